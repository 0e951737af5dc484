"""The interface of encoders of a corpus, and the encoders that commands name.

An encoder of a corpus, such as a `CorpusEncoder`, an `ArchiveEncoder` or a `RayEncoder`, encodes
one block of sentences after another.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Optional, Protocol, Union

from allennlp_sentmatch.array_types import FloatArray
from allennlp_sentmatch.corpora.encoder_sources import (
    Dtype,
    Encodes,
    check_archive,
    check_exists,
    is_archive,
)
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.files.digests import files_digest
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.texts import checked_text, collecting, noting
from allennlp_sentmatch.pretrained import PACKAGE, SENTENCE_ENCODER

PREDICTED = ("label", "probs_by_label", "score")
"""The names of a prediction for a pair of sentences."""


class BlockEncoder(Protocol):
    """An encoder of one block of sentences after another."""

    @property
    def vector_size(self) -> int:
        """The vectors' width E."""

    def encode_blocks(
        self,
        blocks: Iterable[list[str]],
        batch_size: int = 128,
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
    """True if a classifier of labels made the vectors."""

    def __init__(self, encoder: Union[AnyPath, Encodes]) -> None:
        self._encoder = SentenceEncoder(encoder)
        # Encoders of other packages may lack a setting for it.
        self._has_batch_size = self._encoder.dtype is not None

    @property
    def vector_size(self) -> int:
        """The vectors' width E."""
        return self._encoder.vector_size

    @property
    def dtype(self) -> Optional[str]:
        """The format of the numbers that it computes with, see `SentenceEncoder.dtype`."""
        return self._encoder.dtype

    def check(self, sentence: str, name: str) -> str:
        """Return a sentence that can be encoded.

        Raise `TypeError` or `ValueError`, which begins with its `name`, for any other.
        """
        return checked_text(sentence, name)

    def encode(self, queries: Iterable[str]) -> FloatArray:
        """Return the vectors (N, E), float32, of N queries; see `SentenceEncoder.encode_query`."""
        return self._encoder.encode_query(queries)

    def encode_blocks(
        self,
        blocks: Iterable[list[str]],
        batch_size: int = 128,
    ) -> Iterator[FloatArray]:
        """Yield the vectors (N, E) of each block of N sentences, in order."""
        size = batch_size if self._has_batch_size else None
        for sentences in blocks:
            yield self._encoder.encode_document(sentences, batch_size=size, show_progress_bar=False)

    def unknown_words(self, sentence: str) -> list[str]:
        """Return the out-of-vocabulary words of a sentence, if the encoder has a vocabulary."""
        if self._encoder.indexer is None:
            return []
        (words,) = self._encoder.indexer.unknown_words([sentence])
        return list(dict.fromkeys(words))

    def knows_no_word(self, sentence: str) -> bool:
        """Return whether the encoder says that it knows no word of a sentence."""
        with noting(()), collecting() as unknown:
            self._encoder.encode([sentence])
        return sentence in unknown


def block_encoder(encoder: Any) -> Any:
    """Return an encoder of blocks as it is, and another encoder as a `CorpusEncoder`.

    Raise `TypeError` or `ValueError` for what `SentenceEncoder` does not take.
    """
    return encoder if hasattr(encoder, "encode_blocks") else CorpusEncoder(encoder)


def load_encoder(
    model: str,
    cuda_device: int = -1,
    trust: bool = False,
    overrides: str = "",
    dtype: Optional[Dtype] = None,
) -> Any:
    """Return the encoder of blocks for a model's name.

    # Parameters

    model : `str`
        An archive of AllenNLP, which needs AllenNLP, or what `SentenceEncoder` takes, such as
        "package" or a folder of `export`.
    cuda_device, trust, overrides : optional
        See `ArchiveEncoder.from_archive`; for archives only.
    dtype : `str`, optional (default = `None`)
        The format of the numbers, see `SentenceEncoder` and `ArchiveEncoder`; not for encoders of
        other packages.

    # Raises

    `ValueError` for settings that the model does not have, and if the model cannot be loaded;
    `FileNotFoundError` if it does not exist, and `ModuleNotFoundError` for an archive if AllenNLP
    is not installed.
    """
    if is_archive(model):
        check_archive(model)
        from allennlp_sentmatch.encoding import ArchiveEncoder

        return ArchiveEncoder.from_archive(model, cuda_device, trust, overrides, dtype)
    if model != PACKAGE:
        check_exists(model)
    check_no_archive_settings(model, cuda_device, overrides, trust)
    return CorpusEncoder(SentenceEncoder(model, dtype=dtype))


def check_no_archive_settings(
    model: str,
    cuda_device: int = -1,
    overrides: str = "",
    trust: bool = False,
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
            f"{model} is not an archive of AllenNLP; leave out {' and '.join(names)}, which "
            "only an archive takes"
        )


def fingerprint_of(model: str, overrides: str = "", dtype: Optional[Dtype] = None) -> str:
    """Return a text that identifies a model with its settings: equal texts, equal vectors.

    It begins with the SHA-256 of the model's files.
    """
    if is_archive(model):
        from allennlp_sentmatch.models.archival import archive_digest

        digest = archive_digest(model)
    else:
        digest = files_digest(SENTENCE_ENCODER if model == PACKAGE else model)
    number_format = "" if dtype in (None, "float32") else f" in {dtype}"
    return digest + overrides + number_format
