"""The interface of encoders of a corpus, and the encoders that commands name."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, Union

from allennlp_sentmatch.corpora.sentence_encoder import (
    ALLENNLP,
    Encodes,
    SentenceEncoder,
    check_installed,
)
from allennlp_sentmatch.files.digests import files_digest
from allennlp_sentmatch.files.texts import checked_text, collecting, noting
from allennlp_sentmatch.pretrained import PACKAGE, SENTENCE_ENCODER
from allennlp_sentmatch.standalone.encoder import SETTINGS, FloatArray
from allennlp_sentmatch.standalone.sentence_transformers_folder import MODULES
from allennlp_sentmatch.standalone.text_indexer import TextIndexer

PREDICTED = ("label", "probs_by_label", "score")
"""The names of a prediction for a pair of sentences."""


class BlockEncoder(Protocol):
    """An encoder of one block of sentences after another."""

    @property
    def vector_size(self) -> int:
        """The vectors' width E."""

    def encode_blocks(
        self, blocks: Iterable[list[str]], batch_size: int = 128
    ) -> Iterator[FloatArray]:
        """Yield the vectors (N, E) of each block of N sentences, in order."""


class ClassifiesPairs(Protocol):
    """A fitted classifier of pairs of sentences, such as a `PairClassifier`."""

    classes_: Any

    def predict_proba(self, pairs: Any) -> Any:
        """Return the probabilities (N, C) of the `classes_` for N pairs."""


class PairPredictor(Protocol):
    """A predictor of labels or scores of pairs of sentences, with the names in `PREDICTED`."""

    input_keys: list[tuple[str, ...]]
    reads_pairs: bool

    def predict_batch_json(self, inputs: list[Any]) -> list[Any]:
        """Return a prediction for each pair, an object with the first of the `input_keys`."""


class CorpusEncoder:
    """Encodes a corpus, and queries to it, with anything that has a method `encode`.

    # Parameters

    encoder : `Union[str, os.PathLike, Encodes]`
        What the constructor of `SentenceEncoder` takes.
    """

    is_classifier = False
    """Whether a classifier of labels made the vectors."""

    def __init__(self, encoder: Union[str, "os.PathLike[str]", Encodes]) -> None:
        self._encoder = SentenceEncoder(encoder)
        # Encoders of other packages may lack a setting for it.
        self._has_batch_size = self._encoder.dtype is not None

    @property
    def vector_size(self) -> int:
        """The vectors' width E."""
        return self._encoder.vector_size

    def check(self, sentence: str, name: str) -> str:
        """Return a sentence that can be encoded; errors begin with its `name`."""
        return checked_text(sentence, name)

    def encode(self, queries: Iterable[str]) -> FloatArray:
        """Return the vectors (N, E) of N queries."""
        return self._encoder.encode_query(queries)

    def encode_blocks(
        self, blocks: Iterable[list[str]], batch_size: int = 128
    ) -> Iterator[FloatArray]:
        """Yield the vectors (N, E) of each block of N sentences, in order."""
        size = batch_size if self._has_batch_size else None
        for sentences in blocks:
            yield self._encoder.encode_document(sentences, batch_size=size, show_progress_bar=False)

    def unknown_words(self, sentence: str) -> list[str]:
        """Return the out-of-vocabulary words of a sentence, if the encoder has a vocabulary."""
        indexer = getattr(self._encoder.network, "indexer", None)
        if not isinstance(indexer, TextIndexer):
            return []
        (words,) = indexer.unknown_words([sentence])
        return list(dict.fromkeys(words))

    def knows_no_word(self, sentence: str) -> bool:
        """Return whether the encoder says that it knows no word of a sentence."""
        with noting(()), collecting() as unknown:
            self._encoder.encode([sentence])
        return sentence in unknown


def block_encoder(encoder: Any) -> Any:
    """Return an encoder of blocks as it is, and another encoder as a `CorpusEncoder`."""
    return encoder if hasattr(encoder, "encode_blocks") else CorpusEncoder(encoder)


def is_archive(model: str) -> bool:
    """Return whether a model's name is that of an archive of AllenNLP, which may be a URL."""
    if model == PACKAGE or any((Path(model) / name).exists() for name in (SETTINGS, MODULES)):
        return False
    return Path(model).is_file() or (Path(model) / "vocabulary").exists() or "://" in model


def check_archive(model: str) -> None:
    """Raise an error unless a model is an archive, and AllenNLP is installed."""
    if not is_archive(model):
        _check_exists(model)
        raise ValueError(
            f"{model} is not a model: expected `package`, the folder of an exported encoder or an "
            "archive (model.tar.gz)"
        )
    check_installed(f"{model} is an archive of", *ALLENNLP)


def _check_exists(model: str) -> None:
    if not Path(model).exists():
        raise FileNotFoundError(
            f"there is no file or folder {model}; a model is `package`, an exported folder or an "
            "archive"
        )


def load_encoder(
    model: str,
    cuda_device: int = -1,
    trust: bool = False,
    overrides: str = "",
    bfloat16: bool = False,
) -> Any:
    """Return the encoder of blocks for a model's name.

    # Parameters

    model : `str`
        An archive of AllenNLP, which needs AllenNLP, or what `SentenceEncoder` takes, such as
        "package" or a folder of `export`.
    cuda_device, trust, overrides : optional
        See `ArchiveEncoder.from_archive`; for archives only.
    bfloat16 : `bool`, optional (default = `False`)
        Whether to compute in bfloat16; not for encoders of other packages.

    # Raises

    `ValueError` for settings that the model does not have, and if the model cannot be loaded;
    `FileNotFoundError` if it does not exist, and `ModuleNotFoundError` for an archive if AllenNLP
    is not installed.
    """
    if is_archive(model):
        check_archive(model)
        from allennlp_sentmatch.encoding import ArchiveEncoder

        return ArchiveEncoder.from_archive(model, cuda_device, trust, overrides, bfloat16)
    if model != PACKAGE:
        _check_exists(model)
    check_no_archive_settings(model, cuda_device, overrides, trust)
    return CorpusEncoder(SentenceEncoder(model, dtype="bfloat16" if bfloat16 else None))


def check_no_archive_settings(
    model: str, cuda_device: int = -1, overrides: str = "", trust: bool = False
) -> None:
    """Raise a `ValueError` if a setting of archives is given with another model."""
    if is_archive(model):
        return
    given = {
        "--cuda-device": cuda_device >= 0,
        "--overrides": bool(overrides),
        "--trust-archive": trust,
    }
    names = [name for name, is_given in given.items() if is_given]
    if names:
        raise ValueError(
            f"{model} is not an archive of AllenNLP, but {', '.join(names)} are settings of "
            "archives; leave them out"
        )


def fingerprint_of(model: str, overrides: str = "", bfloat16: bool = False) -> str:
    """Return a text that identifies a model with its settings."""
    if is_archive(model):
        from allennlp_sentmatch.models.archival import archive_digest

        digest = archive_digest(model)
    else:
        digest = files_digest(SENTENCE_ENCODER if model == PACKAGE else model)
    return digest + overrides + (" in bfloat16" if bfloat16 else "")
