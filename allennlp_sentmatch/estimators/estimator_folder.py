"""Fitted estimators in folders of tensors and JSON."""

import warnings
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor

from allennlp_sentmatch.estimators.pair_estimators import SYMMETRIC, PairEstimator
from allennlp_sentmatch.estimators.pairs import checked_targets
from allennlp_sentmatch.estimators.sentence_encoder import SentenceEncoder, Source
from allennlp_sentmatch.nn.checks import check_names
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.encoder import normalized
from allennlp_sentmatch.standalone.files import (
    errors_name,
    read_json_object,
    write_json,
    written_folder,
)
from allennlp_sentmatch.standalone.networks import load_state
from allennlp_sentmatch.standalone.tensor_file import read_tensors, write_tensors

TENSORS = "pair_estimator.safetensors"
SETTINGS = "pair_estimator.json"
ENCODER = "encoder"

FORMAT = 2
"""The version of the format, in the settings."""

SINCE_2 = {"ordered_words": True, "feature_names": None}
"""What folders of format 1 lack: the words of their pairs are in order whatever the matcher is."""

PROBE = ["A man is asleep.", "How do I cook rice?", "The 3 dogs aren't running."]
"""Sentences whose vectors show that the encoder of `load` is that of `fit`."""

TOLERANCE = 0.01
"""The largest distance of their vectors, of length 1: processors round differently."""


def save(estimator: PairEstimator, folder: Path) -> None:
    """Write a fitted estimator; see `PairEstimator.save`."""
    encoder, head = estimator.encoder_, estimator.head_
    tensors = {"probe": torch.from_numpy(encoder.encode(PROBE))}
    network = None if encoder.is_shipped else encoder.network
    is_own = isinstance(network, StandaloneEncoder)
    if head is None:
        tensors["coef"] = torch.from_numpy(estimator.coef_)
        tensors["intercept"] = torch.from_numpy(estimator.intercept_)
    else:
        own = head.layers.state_dict()
        tensors |= {f"head.{name}": tensor.float() for name, tensor in own.items()}
    parameters = {**estimator.checked_parameters(), "fine_tune": head is not None}
    parameters["matcher"], parameters["compare_words"], ordered = estimator.features_
    if isinstance(parameters.get("class_weight"), dict):  # its labels may be numbers
        parameters["class_weight"] = list(parameters["class_weight"].items())
    classes = getattr(estimator, "classes_", None)
    names = getattr(estimator, "feature_names_in_", None)
    settings = {
        "format": FORMAT,
        "type": type(estimator).__name__,
        "encoder": "package" if encoder.is_shipped else "folder" if is_own else "given",
        "parameters": parameters,
        "classes": None if classes is None else classes.tolist(),
        "score_range": None if head is None else list(head.score_range),
        "ordered_words": ordered,
        "feature_names": None if names is None else names.tolist(),
    }
    with written_folder(folder) as temporary:
        if isinstance(network, StandaloneEncoder):
            network.save(temporary / ENCODER)
        write_tensors(temporary / TENSORS, tensors)
        write_json(temporary / SETTINGS, settings)


def load(kind: type[PairEstimator], folder: Path, given: Source) -> PairEstimator:
    """Read what `save` has written; see `PairEstimator.load`."""
    settings = read_json_object(folder / SETTINGS)
    with errors_name(folder / SETTINGS):
        found = settings.get("format")
        if found not in (1, FORMAT):
            raise ValueError(f"the format is {found!r}; this version of the package reads {FORMAT}")
        if found == 1:
            settings |= SINCE_2
        names = ("format", "type", "encoder", "parameters", "classes", "score_range", *SINCE_2)
        check_names("setting", settings, names)
        if settings["type"] != kind.__name__:
            raise ValueError(f"this is a {settings['type']!r}, not a {kind.__name__}")
        estimator = _estimator(kind, settings)
    estimator.encoder_ = _encoder(folder, settings["encoder"], given)
    estimator.encoder = None if settings["encoder"] == "package" else estimator.encoder_
    tensors = read_tensors(folder / TENSORS)
    with errors_name(folder / TENSORS):
        for name, tensor in tensors.items():
            if not tensor.isfinite().all():
                raise ValueError(f"{name!r} has a number that is not finite")
        expected, vectors = tensors.pop("probe", None), estimator.encoder_.encode(PROBE)
        if (
            expected is None
            or expected.shape != vectors.shape
            or abs(normalized(expected.float().numpy()) - normalized(vectors)).max() > TOLERANCE
        ):
            raise ValueError("the estimator was fitted with another encoder; fit it again")
        if estimator.fine_tune:
            _load_head(estimator, tensors, settings["score_range"])
        else:
            _load_linear(estimator, tensors)
        estimator._outputs([PROBE[:2]])
    return estimator


def _estimator(kind: type[PairEstimator], settings: dict[str, Any]) -> PairEstimator:
    """An estimator with its parameters and classes."""
    parameters = settings["parameters"]
    expected = kind().get_params()
    del expected["encoder"]
    if not isinstance(parameters, dict):
        raise ValueError("expected an object as parameters")
    if settings["format"] == 1 and "class_weight" in expected:
        parameters["class_weight"] = None
    check_names("parameter", parameters, expected)
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = dict(parameters["class_weight"])
    estimator = kind(**parameters)
    estimator.checked_parameters()
    ends = settings["score_range"]
    if estimator.fine_tune and not (
        isinstance(ends, list)
        and [type(end) for end in ends] == [float, float]
        and -numpy.inf < ends[0] < ends[1] < numpy.inf
    ):
        raise ValueError("score_range must be a list of the lowest and the highest score")
    names, ordered = settings["feature_names"], settings["ordered_words"]
    if names is not None:
        if not isinstance(names, list) or [type(name) for name in names] != [str, str]:
            raise ValueError("feature_names must be a list of two strings, or null")
        estimator.feature_names_in_ = numpy.array(names, dtype=object)
    if not isinstance(ordered, bool):
        raise ValueError("ordered_words must be true or false")
    if ordered and estimator.compare_words and estimator.matcher in SYMMETRIC:
        warnings.warn(
            "this estimator was fitted when the features of words depended on the order of a pair, "
            f"although matcher is {estimator.matcher!r}; fit it again",
            stacklevel=4,
        )
    estimator.features_ = (estimator.matcher, estimator.compare_words, ordered)
    estimator.head_ = None
    classes = settings["classes"]
    if kind._numeric != (classes is None) or not isinstance(classes, (list, type(None))):
        raise ValueError("expected a list of classes of a PairClassifier, and null otherwise")
    if classes is not None:
        estimator.classes_ = checked_targets(classes, len(classes), numeric=False)
        if numpy.unique(estimator.classes_).size != len(classes) or len(classes) < 2:
            raise ValueError("expected at least two different classes")
    return estimator


def _encoder(folder: Path, place: Any, given: Source) -> SentenceEncoder:
    if place not in ("package", "folder", "given"):
        raise ValueError(f"{folder / SETTINGS}: encoder must be package, folder or given")
    if place == "given" and given is None:
        raise ValueError(
            f"{folder} does not contain the encoder; load(folder, encoder=...) takes the one that "
            "the estimator was fitted with"
        )
    if place != "given" and given is not None:
        raise ValueError(f"{folder} needs no encoder from outside; leave out encoder=")
    # Not by the folder's path, where an archive could lie, which is code.
    return SentenceEncoder(StandaloneEncoder.load(folder / ENCODER) if place == "folder" else given)


def _load_linear(estimator: PairEstimator, tensors: dict[str, Tensor]) -> None:
    check_names("tensor", tensors, ("coef", "intercept"))
    rows = 1 if estimator._numeric else len(estimator.classes_)
    columns = estimator.features(PROBE, PROBE).shape[1]
    for name, shape in {"coef": (rows, columns), "intercept": (rows,)}.items():
        if tensors[name].shape != shape:
            raise ValueError(f"{name!r} must have the shape {shape}")
        if tensors[name].dtype != torch.float64:
            raise ValueError(f"{name!r} must be in float64, not {tensors[name].dtype}")
        setattr(estimator, f"{name}_", tensors[name].numpy())


def _load_head(
    estimator: PairEstimator, tensors: dict[str, Tensor], score_range: list[float]
) -> None:
    from allennlp_sentmatch.estimators.fine_tuning import PairHead

    network = estimator.encoder_.network
    if not isinstance(network, StandaloneEncoder):
        raise ValueError("a fine-tuned estimator needs the encoder in its folder")
    num_labels = None if estimator._numeric else len(estimator.classes_)
    lowest, highest = score_range
    estimator.head_ = PairHead(network, estimator.matcher, num_labels, (lowest, highest))
    own = {name.removeprefix("head."): tensor for name, tensor in tensors.items()}
    load_state(estimator.head_.layers, own)
