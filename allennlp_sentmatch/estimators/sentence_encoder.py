"""Sentence vectors from whichever encoder there is."""

import os
import re
import warnings
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Optional, Protocol, Union

import numpy

from allennlp_sentmatch.pretrained import SENTENCE_ENCODER
from allennlp_sentmatch.standalone.encoder import (
    SETTINGS,
    FloatArray,
    StandaloneEncoder,
    checked_sentences,
    normalized,
)
from allennlp_sentmatch.standalone.sentence_transformers_folder import (
    check_sentence_transformers_folder,
)

MAX_CHARACTERS = 10_000
"""Of a text. A batch takes memory for the length of its longest text."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Encodes(Protocol):
    """An object that turns a list of N strings into N vectors."""

    def encode(self, sentences: list[str]) -> Any:
        """Vectors (N, E) as a NumPy array or a tensor on the CPU."""


Source = Union[str, "os.PathLike[str]", Encodes, None]


class SentenceEncoder:
    """Turns sentences into vectors, compares and finds them.

        encoder = SentenceEncoder()
        vectors = encoder.encode(["A man is asleep.", "Two dogs run."])  # (2, E)
        encoder.similarity("A man is asleep.", "Somebody sleeps.")

    # Parameters

    source : `Union[str, os.PathLike, Encodes]`, optional (default = `None`)
        By default the English encoder that this package contains. Otherwise a folder that `allennlp
        export` has written, a folder of sentence-transformers, an archive of AllenNLP (a
        `model.tar.gz` or its folder), or an object with a method `encode`, such as a
        `SentenceTransformer` or another `SentenceEncoder`. An archive is loaded as safely as
        possible; see SECURITY.md.

    # Raises

    `ValueError` for a path of something else; `FileNotFoundError` if there is nothing.
    """

    network: Encodes

    def __init__(self, source: Source = None) -> None:
        self.is_shipped = source is None
        if isinstance(source, SentenceEncoder):
            self.network, self.is_shipped = source.network, source.is_shipped
        elif isinstance(source, (str, os.PathLike)):
            self.network = _read(Path(source))
        elif source is None:
            self.network = StandaloneEncoder.load(SENTENCE_ENCODER)
        elif callable(getattr(source, "encode", None)) and not isinstance(source, bytes):
            self.network = source
        else:
            raise TypeError(
                "an encoder must be a path, an object with a method `encode`, or None for the "
                f"encoder of this package, not {type(source).__name__}"
            )
        if isinstance(self.network, StandaloneEncoder):
            self.network.indexer.on_cut = _warn_of_cut

    @cached_property
    def vector_size(self) -> int:
        """The vectors' width E."""
        return int(self.encode(["a"]).shape[1])

    def encode(self, sentences: Iterable[str]) -> FloatArray:
        """The vectors of sentences.

        # Parameters

        sentences : `Iterable[str]`
            Each of at most 10,000 characters.

        # Returns

        `numpy.ndarray`
            (N, E), float32, in the order of the sentences.

        # Raises

        `TypeError` or `ValueError` for a sentence that is not a string, is blank or too long,
        naming its position, and for a single string.
        """
        texts = _checked(sentences)
        if not texts:
            return numpy.empty((0, self.vector_size), dtype=numpy.float32)
        vectors: FloatArray = numpy.asarray(self.network.encode(texts), dtype=numpy.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise ValueError(
                f"{type(self.network).__name__}.encode gave an array of shape {vectors.shape} for "
                f"{len(texts)} sentences; expected ({len(texts)}, vector size)"
            )
        finite = numpy.isfinite(vectors).all(axis=1)
        if not finite.all():
            raise ValueError(
                f"the vector of sentence {finite.argmin()} has a number that is not finite"
            )
        return vectors

    def similarity(
        self, first: Union[str, Iterable[str]], second: Union[str, Iterable[str]]
    ) -> Any:
        """The cosine of two sentences' vectors, from -1 to 1, or of each pair of two lists.

        # Returns

        `float` for two strings; for two lists of N strings a `numpy.ndarray` (N,).

        # Raises

        `ValueError` for lists of different lengths; the errors of `encode`.
        """
        if isinstance(first, str) and isinstance(second, str):
            return float(self.similarity([first], [second])[0])
        texts = [_checked(first), _checked(second)]
        if len(texts[0]) != len(texts[1]):
            raise ValueError(
                f"expected as many second sentences as first ones; there are {len(texts[0])} first "
                f"and {len(texts[1])} second ones"
            )
        a, b = numpy.split(normalized(self.encode(texts[0] + texts[1])), 2)
        return (a * b).sum(axis=1)

    def search(
        self,
        query: str,
        sentences: Iterable[str],
        count: int = 10,
        vectors: Optional[FloatArray] = None,
    ) -> list[tuple[str, float]]:
        """The sentences most similar to a query.

        # Parameters

        query : `str`
        sentences : `Iterable[str]`
            Those to choose from.
        count : `int`, optional (default = `10`)
            How many to return at most.
        vectors : `numpy.ndarray`, optional (default = `None`)
            `encode(sentences)`, computed once for many queries.

        # Returns

        `list[tuple[str, float]]`
            The sentences with their cosines, the most similar first.
        """
        check_sentence(query, "the query")
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ValueError(f"count must be an integer of at least 1, got {count!r}")
        texts = checked_sentences(sentences)
        # Shape: (1, E) and (N, E)
        vector = self.encode([query])
        rows = self.encode(texts) if vectors is None else numpy.asarray(vectors)
        if rows.shape != (len(texts), vector.shape[1]):
            raise ValueError(
                f"expected the vectors of the {len(texts)} sentences, "
                f"({len(texts)}, {vector.shape[1]}); got {rows.shape}"
            )
        cosines = normalized(rows) @ normalized(vector)[0]
        order = numpy.argsort(-cosines, kind="stable")[:count]
        return [(texts[i], float(cosines[i])) for i in order]

    def __deepcopy__(self, memo: dict[int, Any]) -> "SentenceEncoder":
        """The same object: nothing changes it, and scikit-learn copies its estimators often."""
        return self


def check_sentence(text: Any, name: str) -> str:
    """Return `text`, if it can be encoded, as a plain string.

    # Raises

    `TypeError` or `ValueError`, which begins with `name`.
    """
    if not isinstance(text, str):
        shown = "NaN, a missing value" if text != text else type(text).__name__
        raise TypeError(f"{name} must be a string, not {shown}")
    if not text.strip():
        raise ValueError(f"{name} is blank; leave it out")
    if len(text) > MAX_CHARACTERS:
        raise ValueError(
            f"{name} has {len(text):,} characters; at most {MAX_CHARACTERS:,} can be encoded, so "
            "divide the text into sentences"
        )
    surrogate = None if text.isascii() else _SURROGATE.search(text)
    if surrogate is not None:
        raise ValueError(
            f"{name} has half of a UTF-16 pair at character {surrogate.start()}; remove it"
        )
    return str(text)  # NumPy's strings are of a subclass that some tokenizers do not take


def _checked(sentences: Any) -> list[str]:
    if isinstance(sentences, Iterable) and not isinstance(sentences, (str, bytes)):
        sentences = [check_sentence(text, f"sentence {i}") for i, text in enumerate(sentences)]
    return checked_sentences(sentences)


def _warn_of_cut(text: str, max_length: int) -> None:
    warnings.warn(
        f"only the first {max_length} words or word pieces of a text were encoded, which begins "
        f"with {text[:50]!r}; divide long texts into sentences",
        stacklevel=2,
    )


def _read(path: Path) -> Encodes:
    """The encoder at a path."""
    if (path / SETTINGS).exists():
        return StandaloneEncoder.load(path)
    if (path / "modules.json").exists():
        try:
            from sentence_transformers import SentenceTransformer
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                f"{path} is a folder of sentence-transformers, which is not installed; type `pip "
                "install sentence-transformers`"
            ) from None
        check_sentence_transformers_folder(path)
        transformer: Encodes = SentenceTransformer(os.fspath(path))
        return transformer
    if path.is_file() or (path / "vocabulary").exists():
        from allennlp_sentmatch.predictors import SentenceEncoder as ArchiveEncoder

        return ArchiveEncoder.from_archive(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {path}")
    raise ValueError(
        f"{path} holds no sentence encoder: expected a folder of `allennlp export` (with {SETTINGS}"
        "), a folder of sentence-transformers (with modules.json) or an archive (model.tar.gz)"
    )
