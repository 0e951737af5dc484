"""Folders with a JSON header, tensors and the sentence encoder that they need."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from allennlp_sentmatch.corpora.sentence_encoder import EncoderLike, SentenceEncoder
from allennlp_sentmatch.files.digested_header import read_header, write_header
from allennlp_sentmatch.files.folders import errors_name, written_folder
from allennlp_sentmatch.nn.checks import one_of
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.encoder import SETTINGS, normalized
from allennlp_sentmatch.standalone.model_card import SIMILARITY, Origin, write_model_card
from allennlp_sentmatch.standalone.tensor_file import check_finite, read_tensors, write_tensors

HEADER = "pair_estimator.json"
TENSORS = "pair_estimator.safetensors"
ENCODER = "encoder"

FORMAT = 5  # the version of the format

PROBE = ["A man is asleep.", "How do I cook rice?", "The 3 dogs aren't running."]
"""Sentences whose vectors show that an encoder is the right one."""

TOLERANCE = 0.01  # largest distance between unit vectors: processors round differently


DTYPES = ("float32", "bfloat16", "int8", None)
"""The number formats of encoders that can be saved; `None` for encoders of other packages."""

ENCODER_TEXTS = {
    "package": (
        "Its encoder is the English one in allennlp_sentmatch, which is\nnot in this folder. That "
        "encoder was learned from text with free licences alone, which\ndocs/model_card.md of "
        "allennlp_sentmatch lists."
    ),
    "folder": f"Its encoder is in the folder `{ENCODER}`.",
    "given": "Its encoder is not in this folder: whoever loads it needs the same one.",
}
"""The model card's sentences about the encoder, by its location: in this package, in the folder, or
supplied when the folder is loaded.
"""


def write_folder(
    folder: Path,
    header: dict[str, Any],
    tensors: dict[str, Tensor],
    encoder: SentenceEncoder,
    figures: dict[str, Any],
) -> None:
    """Write a folder as a whole; see `written_folder`. The model card has the `figures`, too.

    Encoders of other packages and of archives are not written.
    """
    network = None if encoder._is_shipped else encoder.network
    own = network if isinstance(network, StandaloneEncoder) else None
    place = "package" if encoder._is_shipped else "given" if own is None else "folder"
    if encoder.dtype not in DTYPES:
        raise ValueError(
            f"an encoder in {encoder.dtype} cannot be saved; fit again with "
            'SentenceEncoder(encoder, dtype="float32")'
        )
    with written_folder(folder) as temporary:
        if own is not None:
            own.save(temporary / ENCODER)
        probe = torch.from_numpy(encoder.encode(PROBE))
        write_tensors(temporary / TENSORS, {"probe": probe, **tensors})
        own_settings = {
            "format": FORMAT,
            "encoder": place,
            "dimensions": encoder.dimensions,
            "dtype": encoder.dtype,
        }
        files = [TENSORS] if own is None else [TENSORS, f"{ENCODER}/{SETTINGS}"]
        write_header(temporary / HEADER, {**own_settings, **header}, files)
        is_score = header["classes"] is None
        kind, task = ("PairRegressor", "scores") if is_score else ("PairClassifier", "labels")
        given = ", encoder=the_encoder" * (place == "given")
        usage = (
            f"from allennlp_sentmatch import {kind}\n\n"
            f'model = {kind}.load("this_folder"{given})\n'
            'model.predict([("How old are you?", "What is your age?")])'
        )
        language = {"language": "en"} if place == "package" else {}
        facts = {**figures, **own_settings, **header}
        facts["encoder's class"] = type(encoder.network).__qualname__
        text = f"{kind}\n\nIt gives {task} to pairs of texts. {ENCODER_TEXTS[place]}"
        write_model_card(temporary, text, usage, Origin({**language, **SIMILARITY}, facts))


def read_folder(
    folder: Path, given: EncoderLike
) -> tuple[dict[str, Any], dict[str, Tensor], SentenceEncoder]:
    """Read the header, the tensors and the encoder of a folder that `write_folder` has written.

    `given` is the encoder if the folder has none. Raises `ValueError`, which names the file, for
    anything wrong and for another encoder.
    """
    if not (folder / HEADER).exists():
        raise FileNotFoundError(_what_is_missing(folder))
    header = read_header(folder / HEADER)
    found = header.get("format")
    if found != FORMAT:
        raise ValueError(
            f"{folder / HEADER}: the format is {found!r}; this version reads {FORMAT}, so that the "
            "estimator must be fitted and saved again"
        )
    place = header.pop("encoder", None)
    with errors_name(folder / HEADER):
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
    with errors_name(folder / HEADER):
        dimensions = header.pop("dimensions", None)
        dtype = header.pop("dtype", None)
        if dtype not in DTYPES:
            raise ValueError("dtype must be float32, bfloat16, int8 or null")
        encoder = SentenceEncoder(source, dimensions=dimensions, dtype=dtype)
    tensors = read_tensors(folder / TENSORS)
    with errors_name(folder / TENSORS):
        check_finite(tensors)
        expected = tensors.pop("probe", None)
        vectors = encoder.encode(PROBE)
        if (
            expected is None
            or expected.shape != vectors.shape
            or abs(normalized(expected.float().numpy()) - normalized(vectors)).max() > TOLERANCE
        ):
            earlier = (
                "; if it was the one of an earlier version of this package, load(folder, "
                "encoder=...) takes that version's folder pretrained/sentence_encoder"
            )
            raise ValueError(
                "the estimator was fitted with another encoder; fit it again"
                + earlier * (place == "package" and given is None)
            )
    return header, tensors, encoder


def _what_is_missing(folder: Path) -> str:
    if not folder.exists():
        return f"there is no folder {folder}; expected one that `save` of an estimator has written"
    if (folder / SETTINGS).exists():
        return (
            f"{folder} holds a sentence encoder, not an estimator; SentenceEncoder(folder) reads it"
        )
    return f"{folder} holds no estimator that `save` has written: there is no {HEADER}"
