"""Convert a saved estimator's settings to JSON, and JSON to an estimator."""

from typing import Any, Optional, TypeVar

import numpy

from allennlp_sentmatch.corpora.sentence_encoder import (
    ALLENNLP,
    SentenceEncoder,
    check_installed,
)
from allennlp_sentmatch.corpora.word_comparison import WORD_ORDERS, num_features
from allennlp_sentmatch.estimators.fine_tuning import NUMBERS, FineTuning
from allennlp_sentmatch.estimators.heads import LINEAR_MATCHERS, SYMMETRIC, Head, LinearHead
from allennlp_sentmatch.estimators.linear import Array
from allennlp_sentmatch.estimators.pairs import checked_targets
from allennlp_sentmatch.nn.checks import check_names
from allennlp_sentmatch.standalone import StandaloneEncoder

Estimator = TypeVar("Estimator", bound=Any)

SETTINGS = ("type", "parameters", "classes", "feature_names", "head")
"""The settings that are saved with the tensors and the encoder."""


def header_of(estimator: Any) -> dict[str, Any]:
    """Return the settings of a fitted `PairEstimator`."""
    parameters = estimator._checked_parameters()
    if parameters["head"] is not None:
        parameters["head"] = parameters["head"].get_params()
    if isinstance(parameters.get("class_weight"), dict):  # its keys may be numbers, unlike JSON's
        parameters["class_weight"] = list(parameters["class_weight"].items())
    names = getattr(estimator, "feature_names_in_", None)
    classes = getattr(estimator, "classes_", None)
    head = estimator.head_
    is_tuned = not isinstance(head, LinearHead)
    return {
        "type": type(estimator).__name__,
        "parameters": parameters,
        "classes": None if classes is None else classes.tolist(),
        "feature_names": None if names is None else names.tolist(),
        "head": {"fine_tuned": is_tuned, "matcher": head.matcher, "words": head.words},
    }


def estimator_of(
    kind: type[Estimator], header: dict[str, Any], encoder: SentenceEncoder, is_numeric: bool
) -> Estimator:
    """Return a fitted estimator whose head has yet to load its tensors.

    Raises `ValueError` or `TypeError` for settings that `header_of` never gives.
    """
    check_names("setting", header, ("format", *SETTINGS))
    name, parameters, classes, names, head = (header[setting] for setting in SETTINGS)
    if name != kind.__name__:
        raise ValueError(f"this is a {name!r}, not a {kind.__name__}")
    if not isinstance(parameters, dict) or not isinstance(head, dict):
        raise ValueError("expected an object as parameters and as head")
    check_names("parameter", parameters, kind().get_params(deep=False).keys() - {"encoder"})
    given = None if encoder._is_default else encoder
    estimator: Estimator = kind(given, **_read_parameters(parameters))
    estimator._checked_parameters()
    estimator.encoder_ = encoder
    if names is not None:
        estimator.feature_names_in_ = _read_names(names)
    num_outputs = 1
    if is_numeric != (classes is None):
        raise ValueError("expected a list of classes of a PairClassifier, and null otherwise")
    if classes is not None:
        estimator.classes_ = _read_classes(classes)
        num_outputs = len(classes)
    estimator.head_ = _new_head(head, encoder, num_outputs)
    return estimator


def _read_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return an estimator's parameters from JSON."""
    read = dict(parameters)
    if isinstance(read["head"], dict):
        check_names("setting of fine-tuning", read["head"], NUMBERS)
        read["head"] = FineTuning(**read["head"])
    if isinstance(read.get("class_weight"), list):
        read["class_weight"] = dict(read["class_weight"])
    return read


def _read_names(names: Any) -> Array:
    """Return the names (2,) of the columns in `fit`."""
    if not isinstance(names, list) or [type(name) for name in names] != [str, str]:
        raise ValueError("feature_names must be a list of two strings, or null")
    return numpy.array(names, dtype=object)


def _read_classes(classes: Any) -> Array:
    """Return the labels (C,), which are sorted."""
    if not isinstance(classes, list):
        raise ValueError("expected a list of classes of a PairClassifier, and null otherwise")
    labels = checked_targets(classes, len(classes), numeric=False)
    if numpy.unique(labels).tolist() != labels.tolist() or len(classes) < 2:
        raise ValueError("expected at least two different classes, which are sorted")
    return labels


def _new_head(settings: dict[str, Any], encoder: SentenceEncoder, num_outputs: int) -> Head:
    """Return a head without its tensors, from the result of `header_of`."""
    check_names("setting of the head", settings, ("fine_tuned", "matcher", "words"))
    matcher: Any = settings["matcher"]
    words: Optional[str] = settings["words"]
    if settings["fine_tuned"]:
        if not isinstance(encoder.network, StandaloneEncoder):
            raise ValueError("a fine-tuned estimator needs the encoder in its folder")
        check_installed("a fine-tuned estimator needs", *ALLENNLP)
        from allennlp_sentmatch.estimators.fine_tuned_head import FineTunedHead

        return FineTunedHead(encoder.network, num_outputs, matcher)
    is_possible = words != "ordered" or matcher not in SYMMETRIC
    if matcher not in LINEAR_MATCHERS or words not in WORD_ORDERS or not is_possible:
        raise ValueError(
            f"the head's matcher must be one of {', '.join(LINEAR_MATCHERS)}, and its words "
            "ordered, unordered or null, but not ordered with a symmetric matcher"
        )
    num_words = num_features(encoder)
    return LinearHead(encoder.vector_size, num_outputs, matcher, words, num_words)
