"""Sentence vectors from whichever encoder there is."""

import copy
import logging
import os
from collections.abc import Iterable
from functools import cached_property
from importlib import import_module
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, Optional, Protocol, Union

import numpy
import torch
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.pretrained import SENTENCE_ENCODER
from allennlp_sentmatch.standalone.encoder import (
    SETTINGS,
    FloatArray,
    StandaloneEncoder,
    cosines,
    nearest,
    normalized,
)
from allennlp_sentmatch.standalone.sentence_transformers_folder import (
    check_sentence_transformers_folder,
)
from allennlp_sentmatch.standalone.texts import (
    Sentences,
    checked_sentences,
    checked_text,
    noting,
    noting_pairs,
)

logger = logging.getLogger(__name__)

NUM_SAMPLES = 8  # the number of rows of given vectors that are compared with the encoder's
TOLERANCE = 0.01  # the largest difference in a component, at length 1: processors round differently


class Encodes(Protocol):
    """An object that turns a list of N strings into N vectors."""

    def encode(self, sentences: list[str]) -> Any:
        """Vectors (N, E) as a NumPy array or a tensor on the CPU."""


Source = Union[str, "os.PathLike[str]", Encodes, None]

# Modules that may be missing, with their packages and the commands that install them.
ALLENNLP = "allennlp.common.checks", "AllenNLP", "python -m allennlp_sentmatch install-allennlp"
TRANSFORMERS = "sentence_transformers", "sentence-transformers", "pip install sentence-transformers"

PRECISIONS = ("float32", "bfloat16", "auto")


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
    dimensions : `int`, optional (default = `None`)
        How many of the vectors' first dimensions to keep; by default all. The encoder of this
        package is trained so that the first 64, 128 and 256 can be used by themselves.
    precision : `str`, optional (default = `"float32"`)
        "float32", "bfloat16", or "auto" for bfloat16 where the processor multiplies it, which the
        log says. Only for encoders of this package and of `allennlp export`. With "float32", an
        encoder that was given keeps its precision.

    # Raises

    `ValueError` for a path of something else, for more dimensions than there are, and for an
    impossible precision; `FileNotFoundError` if there is nothing.
    """

    network: Encodes

    def __init__(
        self,
        source: Source = None,
        dimensions: Optional[int] = None,
        precision: Literal["float32", "bfloat16", "auto"] = "float32",
    ) -> None:
        self.is_shipped = source is None
        self.dimensions: Optional[int] = None
        if isinstance(source, SentenceEncoder):
            self.network, self.is_shipped = source.network, source.is_shipped
            self.dimensions = source.dimensions
        elif isinstance(source, (str, os.PathLike)):
            self.network = _read(Path(source))
        elif source is None:
            self.network = StandaloneEncoder.load(SENTENCE_ENCODER)
        elif callable(getattr(source, "encode", None)) and not isinstance(source, type):
            self.network = source
        else:
            raise TypeError(
                "an encoder must be a path, an object with a method `encode`, or None for the "
                f"encoder of this package, not {type(source).__name__}"
            )
        if precision not in PRECISIONS:
            raise ValueError(f"precision must be {', '.join(PRECISIONS)}; got {precision!r}")
        if precision != "float32":
            self.network = _rounded(self.network, precision)
        if dimensions is not None:
            check_positive(dimensions=dimensions)
            if self.vector_size < dimensions:
                raise ValueError(
                    f"there are {self.vector_size} dimensions in the vectors, not {dimensions}"
                )
            self.dimensions = self.vector_size = int(dimensions)  # of NumPy, it cannot be saved

    @cached_property
    def vector_size(self) -> int:
        """The vectors' width E."""
        with noting(()):
            return int(self.encode(["a"]).shape[1])

    def encode(self, sentences: Iterable[str]) -> FloatArray:
        """Encode sentences as vectors.

        A warning names the sentences that are cut, or have no word that the encoder knows.

        # Parameters

        sentences : `Iterable[str]`
            Each of at most 10,000 characters.

        # Returns

        `numpy.ndarray`
            (N, E), float32, in the order of the sentences.

        # Raises

        `TypeError` or `ValueError` for a sentence that is not a string, is blank or too long,
        naming its position, and for a single string, a set or a table.
        """
        texts = checked_sentences(sentences)
        if not texts:
            return numpy.empty((0, self.vector_size), dtype=numpy.float32)
        name = f"{type(self.network).__name__}.encode"
        with noting(texts):
            vectors = _array(self.network.encode(texts), f"the result of {name}")
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise ValueError(
                f"{name} gave an array of shape {vectors.shape} for {len(texts)} sentences; "
                f"expected ({len(texts)}, vector size)"
            )
        _check_finite(vectors, "of sentence")
        return vectors[:, : self.dimensions]

    def similarity(
        self, first: Union[str, Iterable[str]], second: Union[str, Iterable[str]]
    ) -> Any:
        """Return the cosine of two sentences' vectors, from -1 to 1, or of each pair of two lists.

        # Returns

        `float` for two strings; for two lists of N strings a `numpy.ndarray` (N,).

        # Raises

        `ValueError` for lists of different lengths; the errors of `encode`.
        """
        if isinstance(first, str) and isinstance(second, str):
            return float(self.similarity([first], [second])[0])
        a, b = (checked_sentences(side) for side in (first, second))
        if len(a) != len(b):
            raise ValueError(
                f"expected as many second sentences as first ones; there are {len(a)} first and "
                f"{len(b)} second ones"
            )
        with noting_pairs(a, b):
            u, v = numpy.split(normalized(self.encode(Sentences(a + b))), 2)
        return cosines(u, v)

    def search(
        self,
        query: str,
        sentences: Iterable[str],
        count: int = 10,
        vectors: Optional[FloatArray] = None,
    ) -> list[tuple[str, float]]:
        """Find the sentences that are most similar to a query.

        # Parameters

        query : `str`
        sentences : `Iterable[str]`
            The sentences to choose from.
        count : `int`, optional (default = `10`)
            How many to return at most.
        vectors : `numpy.ndarray`, optional (default = `None`)
            `encode(sentences)`, computed once for many queries.

        # Returns

        `list[tuple[str, float]]`
            The sentences with their cosines, the most similar first.

        # Raises

        `ValueError` for vectors that are not finite, or if one of the few that are compared is
        not the encoder's for its sentence; the errors of `encode`.
        """
        query = checked_text(query, "the query")
        if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
            raise ValueError("count must be an integer of at least 1")
        texts = checked_sentences(sentences)
        number = len(texts) if vectors is None else min(len(texts), NUM_SAMPLES)
        sample = numpy.linspace(0, len(texts) - 1, number).astype(int)
        with noting([query, *texts], lambda i: f"sentence {i - 1}" if i else "the query"):
            encoded = normalized(self.encode(Sentences([query, *(texts[i] for i in sample)])))
        vector, rows = encoded[0], encoded[1:]  # (E,) and (number, E)
        if vectors is not None:
            given = _array(vectors, "vectors")
            if given.shape != (len(texts), len(vector)):
                raise ValueError(
                    f"expected the vectors of the {len(texts)} sentences, "
                    f"({len(texts)}, {len(vector)}); got {given.shape}"
                )
            _check_finite(given, "in row")
            given = normalized(given)
            differs = (numpy.abs(given[sample] - rows) > TOLERANCE).any(axis=1)
            if differs.any():
                raise ValueError(
                    f"the vector in row {sample[differs.argmax()]} is not the encoder's for this "
                    "sentence; encode the sentences again"
                )
            rows = given
        return [(texts[row], cosine) for row, cosine in nearest(vector, rows, count)]

    def __deepcopy__(self, memo: dict[int, Any]) -> "SentenceEncoder":
        """The same object: nothing changes it, and scikit-learn copies its estimators often."""
        return self


def _array(vectors: Any, name: str) -> FloatArray:
    """Vectors as they are computed with here, from an array, a tensor or lists."""
    try:
        if isinstance(vectors, Tensor):
            vectors = vectors.detach().float().cpu()
        return numpy.asarray(vectors, dtype=numpy.float32)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error!s:.99}") from error


def _check_finite(vectors: FloatArray, place: str) -> None:
    finite = numpy.isfinite(vectors).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"the vector {place} {finite.argmin()} has a component that is not a finite number"
        )


def _rounded(network: Encodes, precision: str) -> Encodes:
    """A copy of an encoder that computes in bfloat16, if the processor can or it must."""
    if not isinstance(network, StandaloneEncoder):
        raise ValueError(
            f"precision={precision!r} is for encoders of this package and of `allennlp export`, "
            f"not for a {type(network).__name__}"
        )
    # Versions of torch before 2.3 do not tell.
    known: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    is_fast = known.get("avx512_bf16", False) or known.get("amx_bf16", False)
    if precision == "auto":
        logger.info("the encoder computes in %s", "bfloat16" if is_fast else "float32")
    return copy.deepcopy(network).bfloat16() if is_fast or precision == "bfloat16" else network


def check_installed(what: str, module: str, package: str, remedy: str) -> None:
    """Raise a `ModuleNotFoundError` with the remedy if `what` needs a module that is missing."""
    try:
        import_module(module)
    except ModuleNotFoundError:
        message = f"{what} {package}, which is not installed; type `{remedy}`"
        raise ModuleNotFoundError(message) from None


def _read(path: Path) -> Encodes:
    if (path / SETTINGS).exists():
        return StandaloneEncoder.load(path)
    if (path / "modules.json").exists():
        check_installed(f"{path} is a folder of", *TRANSFORMERS)
        from sentence_transformers import SentenceTransformer

        check_sentence_transformers_folder(path)
        transformer: Encodes = SentenceTransformer(os.fspath(path))
        return transformer
    if path.is_file() or (path / "vocabulary").exists():
        check_installed(f"{path} is an archive of", *ALLENNLP)
        from allennlp.common.checks import ConfigurationError

        from allennlp_sentmatch.encoding import ArchiveEncoder

        try:
            return ArchiveEncoder.from_archive(path)
        except ConfigurationError as error:
            raise ValueError(str(error)) from error
    if not path.exists():
        remedy = "for a model on a hub, give SentenceTransformer(name)"
        raise FileNotFoundError(f"there is no file or folder {path}; {remedy}")
    raise ValueError(
        f"{path} holds no sentence encoder: expected a folder of `allennlp export` (with {SETTINGS}"
        "), a folder of sentence-transformers (with modules.json) or an archive (model.tar.gz)"
    )
