"""Sentence vectors from any encoder."""

import inspect
import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Union, overload

import numpy

from allennlp_sentmatch.array_types import FloatArray
from allennlp_sentmatch.corpora.encoder_sources import (
    Dtype,
    EncoderLike,
    Encodes,
    converted,
    read_encoder,
)
from allennlp_sentmatch.corpora.sentence_collection import Found, SentenceCollection
from allennlp_sentmatch.corpora.vector_arrays import as_array, check_finite
from allennlp_sentmatch.files.texts import (
    Sentences,
    checked_sentences,
    checked_text,
    noting,
    noting_pairs,
)
from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.pretrained import PACKAGE, SENTENCE_ENCODER
from allennlp_sentmatch.standalone.encoder import StandaloneEncoder
from allennlp_sentmatch.standalone.text_indexer import TextIndexer
from allennlp_sentmatch.standalone.vectors import cosines, normalized

if TYPE_CHECKING:
    from typing_extensions import TypeGuard


class SentenceEncoder:
    """Turns sentences into vectors, compares and finds them.

        encoder = SentenceEncoder()
        vectors = encoder.encode(["A man is asleep.", "Two dogs run."])  # (2, E)
        encoder.similarity("A man is asleep.", "Somebody sleeps.")

    # Parameters

    encoder : `Union[str, os.PathLike, Encodes]`, optional (default = `None`)
        By default, or as "package", the English encoder that this package contains. Otherwise a
        folder that `sentmatch export` has written, a folder of sentence-transformers, an archive of
        AllenNLP (a `model.tar.gz` or its folder), or an object with a method `encode`, such as a
        `SentenceTransformer` or another `SentenceEncoder`. An archive is loaded as safely as
        possible; see SECURITY.md.
    dimensions : `int`, optional (default = `None`)
        How many of the vectors' first dimensions to keep; by default all. The encoder of this
        package is trained so that the first 64, 128 and 256 can be used by themselves.
    dtype : `str`, optional (default = `None`)
        The format of the numbers that an encoder of this package or of `sentmatch export` computes
        with: "float32", "bfloat16", "int8" (products of 8 bits, for the encoder of this package and
        others of its kind), or "auto" for the faster one of the first two, which the log names.
        That is bfloat16 if the processor can multiply it, except for the encoder of this package,
        which shares the work of equal words in float32. By default, an object keeps its own format,
        and everything else computes in float32.

    # Raises

    `ValueError` if the path is something else, for more dimensions than there are, and for an
    invalid dtype; `FileNotFoundError` if the path does not exist.
    """

    network: Encodes

    def __init__(
        self,
        encoder: EncoderLike = None,
        *,
        dimensions: Optional[int] = None,
        dtype: Optional[Dtype] = None,
    ) -> None:
        self._is_shipped = encoder is None or (isinstance(encoder, str) and encoder == PACKAGE)
        self.dimensions: Optional[int] = None
        if self._is_shipped:
            self.network = StandaloneEncoder.load(SENTENCE_ENCODER)
        elif isinstance(encoder, SentenceEncoder):
            self.network = encoder.network
            self._is_shipped = encoder._is_shipped
            self.dimensions = encoder.dimensions
        elif isinstance(encoder, (str, os.PathLike)):
            self.network = read_encoder(Path(encoder))
        elif _has_encode(encoder):
            self.network = encoder
        else:
            raise TypeError(
                "an encoder must be a path, an object with a method `encode`, or None for the "
                f"encoder of this package, not {type(encoder).__name__}"
            )
        if dtype is not None:
            self.network = converted(self.network, dtype)
        if dimensions is not None:
            self._keep(dimensions)

    def _keep(self, dimensions: int) -> None:
        """Keep only the first dimensions; raise `ValueError` if there are fewer."""
        check_positive(dimensions=dimensions)
        if self.vector_size < dimensions:
            raise ValueError(
                f"there are {self.vector_size} dimensions in the vectors, not {dimensions}"
            )
        self.dimensions = int(dimensions)  # a NumPy integer cannot be saved as JSON
        self.vector_size = self.dimensions

    @property
    def dtype(self) -> Optional[str]:
        """The format of the numbers that the encoder computes with, such as "float32".

        It is `None` for the encoders of other packages and of archives.
        """
        if not isinstance(self.network, StandaloneEncoder):
            return None
        return self.network.dtype

    @property
    def indexer(self) -> Optional[TextIndexer]:
        """The part that splits and looks up the words of texts, if the encoder has one."""
        indexer = getattr(self.network, "indexer", None)
        return indexer if isinstance(indexer, TextIndexer) else None

    @property
    def _is_default(self) -> bool:
        """True if `SentenceEncoder()` is the same encoder."""
        return self._is_shipped and self.dimensions is None and self.dtype == "float32"

    @cached_property
    def vector_size(self) -> int:
        """The vectors' width E."""
        with noting(()):
            return int(self.encode(["a"]).shape[1])

    def encode(
        self,
        sentences: Iterable[str],
        *,
        prompt_name: Optional[str] = None,
        batch_size: Optional[int] = None,
        show_progress_bar: Optional[bool] = None,
    ) -> FloatArray:
        """Encode sentences as vectors.

        A warning names the sentences that are cut, or have no word that the encoder knows.

        # Parameters

        sentences : `Iterable[str]`
            Each of at most 10,000 characters.
        prompt_name : `str`, optional (default = `None`)
            The name of one of the encoder's prompts, for encoders of sentence-transformers that
            have some. By default, the encoder decides.
        batch_size : `int`, optional (default = `None`)
            How many sentences to encode at a time, if the encoder has a setting for it.
        show_progress_bar : `bool`, optional (default = `None`)
            Whether the encoder shows its progress, if it can. By default, encoders of this package
            do so on a terminal after some seconds.

        # Returns

        `numpy.ndarray`
            (N, E), float32, in the order of the sentences.

        # Raises

        `TypeError` or `ValueError` for a sentence that is not a string, is blank or too long,
        naming its position, for a single string, a set or a table, and for an argument that the
        encoder does not take.
        """
        options = {"prompt_name": prompt_name, "batch_size": batch_size}
        return self._encode("encode", sentences, options, show_progress_bar)

    def encode_query(
        self,
        sentences: Iterable[str],
        *,
        batch_size: Optional[int] = None,
        show_progress_bar: Optional[bool] = None,
    ) -> FloatArray:
        """Encode queries of a search; see `encode`.

        Encoders of sentence-transformers that have a prompt for queries, or another network for
        them, use it. For other encoders, it is `encode`.
        """
        options = {"batch_size": batch_size}
        return self._encode("encode_query", sentences, options, show_progress_bar)

    def encode_document(
        self,
        sentences: Iterable[str],
        *,
        batch_size: Optional[int] = None,
        show_progress_bar: Optional[bool] = None,
    ) -> FloatArray:
        """Encode texts to be searched; see `encode` and `encode_query`."""
        options = {"batch_size": batch_size}
        return self._encode("encode_document", sentences, options, show_progress_bar)

    def _encode(
        self,
        method_name: str,
        sentences: Iterable[str],
        options: dict[str, Any],
        show_progress_bar: Optional[bool],
    ) -> FloatArray:
        """Encode sentences by a method of the network, or by `encode` if there is no such method.

        Options that are `None` are left out.
        """
        texts = checked_sentences(sentences)
        if not callable(getattr(self.network, method_name, None)):
            method_name = "encode"
        method = getattr(self.network, method_name)
        name = f"{type(self.network).__name__}.{method_name}"
        given = {option: value for option, value in options.items() if value is not None}
        _check_takes(method, given, name)
        if show_progress_bar is not None and _takes(method, "show_progress_bar"):
            given["show_progress_bar"] = show_progress_bar
        if not texts:
            return numpy.empty((0, self.vector_size), dtype=numpy.float32)
        with noting(texts):
            result = as_array(method(texts, **given), f"the result of {name}")
        if result.ndim != 2 or len(result) != len(texts):
            raise ValueError(
                f"{name} gave an array of shape {result.shape} for {len(texts)} sentences; "
                f"expected ({len(texts)}, vector size)"
            )
        check_finite(result, "of sentence {}", numpy.arange(len(texts)))
        vectors: FloatArray = numpy.asarray(result, numpy.float32)
        if self.dtype is None:  # another package may use the memory for its next result
            vectors = vectors.copy()
        return vectors[:, : self.dimensions]

    @overload
    def similarity(  # type: ignore[overload-overlap]  # a string is an iterable of strings, too
        self, first: str, second: str
    ) -> float: ...

    @overload
    def similarity(self, first: Iterable[str], second: Iterable[str]) -> FloatArray: ...

    def similarity(
        self,
        first: Union[str, Iterable[str]],
        second: Union[str, Iterable[str]],
    ) -> Union[float, FloatArray]:
        """Return the cosine of two texts, or of each pair of two lists.

        In sentence-transformers, `similarity` takes vectors and compares each with each.

        # Parameters

        first, second : `Union[str, Iterable[str]]`
            Two strings, or two lists of N strings.

        # Returns

        `Union[float, numpy.ndarray]`
            A cosine, from -1 to 1, or N of them, (N,), float32.

        # Raises

        `ValueError` for lists of different lengths; the errors of `encode`.
        """
        if isinstance(first, str) and isinstance(second, str):
            return float(self.similarity([first], [second])[0])
        a = checked_sentences(first)
        b = checked_sentences(second)
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
        *,
        k: int = 10,
        vectors: Optional[FloatArray] = None,
    ) -> list[Found]:
        """Find the sentences that are most similar to a query.

        `encode_query` encodes the query, and `encode_document` the sentences.

        # Parameters

        query : `str`
        sentences : `Iterable[str]`
            The sentences to choose from.
        k : `int`, optional (default = `10`)
            The largest number of results.
        vectors : `numpy.ndarray`, optional (default = `None`)
            `encode_document(sentences)`, computed once. For many queries, a `collection` checks the
            sentences and the vectors only once, too.

        # Returns

        `list[Found]`
            Named tuples `(sentence, cosine, position)`, the most similar first; ties are in the
            order of their positions.

        # Raises

        `ValueError` for vectors that are not finite, or if one of the few that are compared is
        not the encoder's for its sentence; the errors of `encode`.
        """
        query = checked_text(query, "the query")
        check_positive(k=k)
        texts = checked_sentences(sentences)
        with noting([query, *texts], lambda i: f"sentence {i - 1}" if i else "the query"):
            return self.collection(texts, vectors).search(query, k=k)

    def collection(
        self,
        sentences: Iterable[str],
        vectors: Optional[FloatArray] = None,
    ) -> SentenceCollection:
        """Return sentences that can be searched for many queries; see `search`."""
        return SentenceCollection(self, checked_sentences(sentences), vectors)

    def __deepcopy__(self, memo: dict[int, Any]) -> "SentenceEncoder":
        """Return the same object: it never changes, and scikit-learn often copies estimators."""
        return self


def _has_encode(encoder: Any) -> "TypeGuard[Encodes]":
    return callable(getattr(encoder, "encode", None)) and not isinstance(encoder, type)


def _check_takes(method: Callable[..., Any], options: dict[str, Any], name: str) -> None:
    """Raise a `TypeError` that names the first of the options that a method does not take."""
    for option in options:
        if not _takes(method, option):
            raise TypeError(f"this encoder has no {option}: {name} does not take it; leave it out")


def _takes(method: Callable[..., Any], option: str) -> bool:
    """Return whether a method has a parameter of this name, or takes any."""
    parameters = inspect.signature(method).parameters
    has_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    return option in parameters or has_any
