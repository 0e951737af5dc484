"""Folders of fitted estimators: a JSON header, tensors, and the sentence encoder.

The header has the digests of the other files. Whatever is read is checked before it is used, and
nothing is run. An encoder of another package is not in the folder: whoever loads it gives it again.
"""

from pathlib import Path
from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.corpora.encoder_sources import EncoderLike
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.estimators.estimator_header import Estimator, estimator_of, header_of
from allennlp_sentmatch.estimators.thresholds import HeldOut
from allennlp_sentmatch.files.digested_header import read_header, write_header
from allennlp_sentmatch.files.folders import AnyPath, errors_name, written_folder
from allennlp_sentmatch.files.texts import noting
from allennlp_sentmatch.nn.checks import one_of, optional
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.encoder_files import SETTINGS
from allennlp_sentmatch.standalone.model_card import SIMILARITY, Origin, write_model_card
from allennlp_sentmatch.standalone.tensor_file import check_finite, read_tensors, write_tensors
from allennlp_sentmatch.standalone.vectors import normalized

HEADER = "pair_estimator.json"
TENSORS = "pair_estimator.safetensors"
ENCODER = "encoder"

FORMAT = 5  # the version of the format

PROBE = ["A man is asleep.", "How do I cook rice?", "The 3 dogs aren't running."]
"""Sentences whose vectors show that an encoder is the right one."""

TOLERANCE = 0.01  # largest distance between unit vectors: processors round differently


DTYPE = optional(one_of("float32", "bfloat16", "int8"), "null")
"""The number format of an encoder that can be saved; `None` for encoders of other packages."""

ENCODER_TEXTS = {
    "package": (
        "Its encoder is the English one in allennlp_sentmatch, which is\nnot in this folder. That "
        "encoder was learned only from text with free licences, which\ndocs/model_card.md of "
        "allennlp_sentmatch lists."
    ),
    "folder": f"Its encoder is in the folder `{ENCODER}`.",
    "given": "Its encoder is not in this folder: whoever loads it needs the same one.",
}
"""The model card's sentences about the encoder, by its location: in this package, in the folder, or
supplied when the folder is loaded.
"""


def save_estimator(estimator: Any, folder: AnyPath) -> None:
    """Write a fitted `PairEstimator` to a folder, which appears as a whole; see `written_folder`.

    Encoders of other packages and of archives are not written. Raise `ValueError` if the encoder's
    numbers have a format that cannot be saved, and if the folder is not empty.
    """
    encoder: SentenceEncoder = estimator.encoder_
    if not DTYPE.accepts(encoder.dtype):
        raise ValueError(
            f"an encoder in {encoder.dtype} cannot be saved; fit again with "
            'SentenceEncoder(encoder, dtype="float32")'
        )
    place = _place_of(encoder)
    settings = {
        "format": FORMAT,
        "encoder": place,
        "dimensions": encoder.dimensions,
        "dtype": encoder.dtype,
        **header_of(estimator),
    }
    with noting(()), written_folder(folder) as temporary:
        digested = [TENSORS]
        if place == "folder":
            own: Any = encoder.network
            own.save(temporary / ENCODER)
            digested.append(f"{ENCODER}/{SETTINGS}")
        probe = torch.from_numpy(encoder.encode(PROBE))
        write_tensors(temporary / TENSORS, {"probe": probe, **estimator.head_.tensors()})
        write_header(temporary / HEADER, settings, digested)
        facts = {**figures_of(estimator), **settings}
        facts["encoder's class"] = type(encoder.network).__qualname__
        _write_card(temporary, facts)


def load_estimator(kind: type[Estimator], folder: AnyPath, given: EncoderLike) -> Estimator:
    """Read an estimator of a kind from a folder that `save_estimator` has written.

    `given` is the encoder if the folder has none. Nothing in the folder is run. Raise
    `FileNotFoundError` if the folder is missing, and `ValueError`, which names the file, for
    invalid content and for another encoder.
    """
    folder = Path(folder)
    if not (folder / HEADER).exists():
        raise FileNotFoundError(_what_is_missing(folder))
    with noting(()):
        header = _read_settings(folder, given)
        tensors = _read_tensors(folder, header, given)
        with errors_name(folder / HEADER):
            estimator = estimator_of(kind, header.settings, header.encoder)
        with errors_name(folder / TENSORS):
            estimator.head_.load(tensors)
            estimator._outputs([PROBE[:2]])
    return estimator


def figures_of(estimator: Any) -> dict[str, Any]:
    """Return readable figures about the fit, by their names; a loaded estimator has none."""
    figures = {"pairs fitted on": getattr(estimator, "n_samples_fit_", None)}
    held_out: Optional[HeldOut] = getattr(estimator, "held_out_", None)
    return figures if held_out is None else {**figures, **held_out.figures()}


def _place_of(encoder: SentenceEncoder) -> str:
    """Return where the encoder of a saved estimator is, a key of `ENCODER_TEXTS`."""
    network = encoder.network
    if not isinstance(network, StandaloneEncoder):
        return "given"
    return "package" if encoder._is_shipped and _is_of_package(network) else "folder"


def _is_of_package(network: StandaloneEncoder) -> bool:
    """Return whether the network of this package has not been trained or changed since."""
    original: Any = SentenceEncoder().network
    tensors = original.to(network.embedding.weight.dtype).state_dict()
    own = network.state_dict()
    return (
        original.digest() == network.digest()
        and own.keys() == tensors.keys()
        and all(torch.equal(own[name].cpu(), tensor) for name, tensor in tensors.items())
    )


def _write_card(folder: Path, facts: dict[str, Any]) -> None:
    """Write the model card, with the `facts` about the estimator and its encoder."""
    place = facts["encoder"]
    kind = "PairClassifier"
    outputs = "labels"
    if facts["classes"] is None:
        kind = "PairRegressor"
        outputs = "scores"
    arguments = '"this_folder"'
    if place == "given":
        arguments += ", encoder=the_encoder"
    usage = (
        f"from allennlp_sentmatch import {kind}\n\n"
        f"model = {kind}.load({arguments})\n"
        'model.predict([("How old are you?", "What is your age?")])'
    )
    metadata = dict(SIMILARITY)
    if place == "package":
        metadata = {"language": "en", **SIMILARITY}
    text = f"{kind}\n\nIt gives {outputs} to pairs of texts. {ENCODER_TEXTS[place]}"
    write_model_card(folder, text, usage, Origin(metadata, facts))


class _Header(NamedTuple):
    """The contents of the header."""

    settings: dict[str, Any]
    """The settings of the estimator; see `header_of`."""
    place: str
    """Where the encoder is, a key of `ENCODER_TEXTS`."""
    encoder: SentenceEncoder


def _read_settings(folder: Path, given: EncoderLike) -> _Header:
    """Read the header, and load the encoder that it describes.

    Raise `ValueError`, which names the file, for a header of another version, for invalid settings,
    and if an encoder is `given` that is not needed, or is missing.
    """
    path = folder / HEADER
    settings = read_header(path)
    version = settings.pop("format", None)
    if version != FORMAT:
        raise ValueError(
            f"{path}: the format is {version!r}, but this version reads {FORMAT}; fit the "
            "estimator again, and save it"
        )
    place = settings.pop("encoder", None)
    with errors_name(path):
        one_of(*ENCODER_TEXTS).check("encoder", place)
    if place == "given" and given is None:
        raise ValueError(
            f"{folder} does not contain the encoder; load(folder, encoder=...) takes the one that "
            "the estimator was fitted with"
        )
    if place == "folder" and given is not None:
        raise ValueError(f"{folder} needs no encoder from outside; leave out encoder=")
    # Loading by the folder's path could load an archive in its place, which is code.
    source = StandaloneEncoder.load(folder / ENCODER) if place == "folder" else given
    with errors_name(path):
        dimensions = settings.pop("dimensions", None)
        dtype = settings.pop("dtype", None)
        DTYPE.check("dtype", dtype)
        encoder = SentenceEncoder(source, dimensions=dimensions, dtype=dtype)
    return _Header(settings, place, encoder)


def _read_tensors(folder: Path, header: _Header, given: EncoderLike) -> dict[str, Tensor]:
    """Read the tensors of the head, by their names.

    Raise `ValueError`, which names the file, for numbers that are not finite, and if the head was
    fitted with another encoder.
    """
    tensors = read_tensors(folder / TENSORS)
    with errors_name(folder / TENSORS):
        check_finite(tensors)
        if _is_same(tensors.pop("probe", None), header.encoder):
            return tensors
        remedy = "fit it again"
        if header.place == "package" and given is None:
            remedy += (
                "; if that was the encoder of an earlier version of this package, load(folder, "
                "encoder=...) takes that version's folder pretrained/sentence_encoder"
            )
        raise ValueError(f"the estimator was fitted with another encoder; {remedy}")


def _is_same(expected: Optional[Tensor], encoder: SentenceEncoder) -> bool:
    """Return whether an encoder gives the expected vectors (3, E) of the sentences in `PROBE`.

    They may differ by `TOLERANCE`, once they have the length 1.
    """
    vectors = encoder.encode(PROBE)
    if expected is None or expected.shape != vectors.shape:
        return False
    differences = normalized(expected.float().numpy()) - normalized(vectors)
    return bool(abs(differences).max() <= TOLERANCE)


def _what_is_missing(folder: Path) -> str:
    """Return the message for a folder without a header."""
    if not folder.exists():
        return f"there is no folder {folder}; expected one that `save` of an estimator has written"
    if (folder / SETTINGS).exists():
        return (
            f"{folder} holds a sentence encoder, not an estimator; SentenceEncoder(folder) reads it"
        )
    return f"{folder} holds no estimator that `save` has written: there is no {HEADER}"
