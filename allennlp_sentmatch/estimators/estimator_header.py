"""Convert a saved estimator's settings to JSON, and JSON to an estimator.

Settings in a folder may come from anybody: each is checked as a parameter of a constructor is.
"""

from typing import Any, Optional, TypeVar

import numpy

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.corpora.encoder_sources import ALLENNLP, check_installed
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.corpora.word_comparison import WORD_ORDERS, num_features
from allennlp_sentmatch.estimators.fine_tuning import NUMBERS, FineTuning
from allennlp_sentmatch.estimators.heads import LINEAR_MATCHERS, SYMMETRIC, Head, LinearHead
from allennlp_sentmatch.estimators.kept_encoder import TunedEncoder
from allennlp_sentmatch.estimators.pairs import checked_targets
from allennlp_sentmatch.nn.checks import ANYTHING, Kind, check_names, optional, read_settings
from allennlp_sentmatch.standalone import StandaloneEncoder

Estimator = TypeVar("Estimator", bound=Any)


def _are_two_names(value: Any) -> bool:
    return isinstance(value, list) and [type(name) for name in value] == [str, str]


_OBJECT = Kind("an object", lambda value: isinstance(value, dict))
_TWO_NAMES = Kind("a list of two strings", _are_two_names)

SETTINGS = {
    "type": ANYTHING,
    "parameters": _OBJECT,
    "classes": ANYTHING,
    "feature_names": optional(_TWO_NAMES, "null"),
    "head": _OBJECT,
}
"""The settings that `header_of` returns, with what they may be."""

NO_CLASSES = "expected a list of classes of a PairClassifier, and null otherwise"


def header_of(estimator: Any) -> dict[str, Any]:
    """Return the settings of a fitted `PairEstimator`, as JSON's types; see `SETTINGS`."""
    parameters = dict(estimator.fit_parameters_)
    fine_tuning = parameters["head"]
    if fine_tuning is not None:
        parameters["head"] = fine_tuning.get_params()
    class_weight = parameters.get("class_weight")
    if isinstance(class_weight, dict):  # its keys may be numbers, unlike JSON's
        parameters["class_weight"] = list(class_weight.items())
    head = estimator.head_
    return {
        "type": type(estimator).__name__,
        "parameters": parameters,
        "classes": _listed(estimator, "classes_"),
        "feature_names": _listed(estimator, "feature_names_in_"),
        "head": {
            "fine_tuned": not isinstance(head, LinearHead),
            "matcher": head.matcher,
            "words": head.words,
        },
    }


def _listed(estimator: Any, name: str) -> Any:
    """Return an attribute, which is an array, as a list, or `None` if there is none."""
    array = getattr(estimator, name, None)
    return None if array is None else array.tolist()


def estimator_of(
    kind: type[Estimator],
    header: dict[str, Any],
    encoder: SentenceEncoder,
) -> Estimator:
    """Return a fitted estimator whose head has yet to load its tensors.

    Raise `ValueError` or `TypeError` for settings that `header_of` never gives.
    """
    header = read_settings(header, SETTINGS)
    if header["type"] != kind.__name__:
        raise ValueError(f"this is a {header['type']!r}, not a {kind.__name__}")
    parameters = header["parameters"]
    known = kind().get_params(deep=False).keys() - {"encoder"}
    check_names("parameter", parameters, known)
    given = None if encoder._is_default else encoder
    estimator: Estimator = kind(given, **_read_parameters(parameters))
    estimator.fit_parameters_ = estimator._checked_parameters()
    estimator.encoder_ = encoder
    if header["feature_names"] is not None:
        estimator.feature_names_in_ = numpy.array(header["feature_names"], dtype=object)
    num_outputs = 1
    if not kind._numeric:
        estimator.classes_ = _read_classes(header["classes"])
        num_outputs = len(estimator.classes_)
    elif header["classes"] is not None:
        raise ValueError(NO_CLASSES)
    estimator.head_ = _new_head(header["head"], encoder, num_outputs)
    if not isinstance(estimator.head_, LinearHead):
        estimator.encoder = TunedEncoder(encoder)
    return estimator


def _read_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return an estimator's parameters from JSON, which has no `FineTuning` and no numbers as keys.

    Raise `ValueError` for settings that `FineTuning` does not have.
    """
    read = dict(parameters)
    if isinstance(read["head"], dict):
        check_names("setting of fine-tuning", read["head"], NUMBERS)
        read["head"] = FineTuning(**read["head"])
    if isinstance(read.get("class_weight"), list):
        read["class_weight"] = dict(read["class_weight"])
    return read


def _read_classes(classes: Any) -> Array:
    """Return the labels (C,). Raise `ValueError` unless they are two or more, and sorted."""
    if not isinstance(classes, list):
        raise ValueError(NO_CLASSES)
    labels = checked_targets(classes, len(classes), numeric=False)
    is_sorted = numpy.unique(labels).tolist() == labels.tolist()
    if not is_sorted or len(classes) < 2:
        raise ValueError("expected at least two different classes, which are sorted")
    return labels


def _new_head(settings: dict[str, Any], encoder: SentenceEncoder, num_outputs: int) -> Head:
    """Return a head without its tensors, for C outputs, from the result of `header_of`.

    Raise `ValueError` for impossible settings, and `ModuleNotFoundError` if a fine-tuned head needs
    AllenNLP, which is missing.
    """
    check_names("setting of the head", settings, ("fine_tuned", "matcher", "words"))
    matcher: Any = settings["matcher"]
    words: Optional[str] = settings["words"]
    if settings["fine_tuned"]:
        if not isinstance(encoder.network, StandaloneEncoder):
            raise ValueError("a fine-tuned estimator needs the encoder in its folder")
        check_installed("a fine-tuned estimator needs", *ALLENNLP)
        from allennlp_sentmatch.estimators.fine_tuned_head import FineTunedHead

        return FineTunedHead(encoder.network, range(num_outputs), matcher)
    is_known = matcher in LINEAR_MATCHERS and words in WORD_ORDERS
    if not is_known or (words == "ordered" and matcher in SYMMETRIC):
        raise ValueError(
            f"the head's matcher must be one of {', '.join(LINEAR_MATCHERS)}, and its words "
            "ordered, unordered or null, but not ordered with a symmetric matcher"
        )
    num_words = num_features(encoder)
    return LinearHead(encoder.vector_size, num_outputs, matcher, words, num_words)
