"""Nearest neighbors among the vectors of a corpus, by cosine."""

import logging
import os
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional, Union

import numpy
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.predictors.sentence_encoder import FloatArray

IntArray = numpy.ndarray[Any, numpy.dtype[numpy.int64]]

FAISS_LOGGER = logging.getLogger("faiss.loader")

MAGIC = b"IxFI"
"""The first bytes of a file of FAISS's flat inner-product index."""


class SentenceIndex:
    """A FAISS index that finds the vectors with the largest cosine, exactly.

    It holds the normalized vectors, whose inner products are the cosines. A zero vector has no
    direction: its cosine with any vector is given as 0.

        index = SentenceIndex.build(vectors)
        cosines, rows = index.search(encoder.encode(["A man is asleep."]), k=5)

    Needs the package faiss.

    # Parameters

    index : `faiss.IndexFlatIP`
        Of normalized vectors.
    """

    def __init__(self, index: Any) -> None:
        self._index = index

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def vector_size(self) -> int:
        """The vectors' width E."""
        return int(self._index.d)

    @classmethod
    def build(
        cls, vectors: FloatArray, rows: Optional[Sequence[int]] = None, block_size: int = 8192
    ) -> "SentenceIndex":
        """The index of vectors.

        # Parameters

        vectors : `numpy.ndarray`
            (N, E); a memory map is read piece by piece.
        rows : `Sequence[int]`, optional (default = `None`)
            Which of them to take, in this order; by default, all.
        block_size : `int`, optional (default = `8192`)
            The number of vectors read at a time.

        # Raises

        `ConfigurationError` for an array that is not of this shape, and for a vector with a
        component that is not finite, naming its row.
        """
        if vectors.ndim != 2 or vectors.shape[1] == 0 or vectors.dtype.kind != "f":
            raise ConfigurationError(
                "expected vectors as a table of floating-point numbers (sentences, size), got "
                f"the shape {vectors.shape} of {vectors.dtype}"
            )
        faiss = _faiss()
        index = faiss.IndexFlatIP(vectors.shape[1])
        chosen = numpy.arange(len(vectors)) if rows is None else numpy.asarray(rows, numpy.int64)
        for start in range(0, len(chosen), block_size):
            block_rows = chosen[start : start + block_size]
            block = numpy.asarray(vectors[block_rows], dtype=numpy.float32)
            bad = ~numpy.isfinite(block).all(axis=1)
            if bad.any():
                raise ConfigurationError(
                    f"the vector in row {block_rows[bad.argmax()]} (counted from 0) has a "
                    "component that is not a finite number"
                )
            index.add(normalized(block))
        return cls(index)

    def search(self, vectors: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
        """The nearest neighbors of vectors.

        # Parameters

        vectors : `numpy.ndarray`
            (Q, E)
        k : `int`
            How many neighbors each gets; fewer where the index has fewer vectors.

        # Returns

        `Tuple[numpy.ndarray, numpy.ndarray]`
            The cosines and the neighbors' positions in the index, both (Q, min(k, N)), the nearest
            first.

        # Raises

        `ConfigurationError` for vectors of another size, and for `k` below 1.
        """
        if k < 1:
            raise ConfigurationError(f"the number of neighbors must be at least 1, got {k}")
        if vectors.ndim != 2 or vectors.shape[1] != self.vector_size:
            raise ConfigurationError(
                f"the index has vectors of size {self.vector_size}, the queries have the shape "
                f"{vectors.shape}"
            )
        k = min(k, len(self))
        if k == 0 or len(vectors) == 0:
            return numpy.empty((len(vectors), k), "f4"), numpy.empty((len(vectors), k), "i8")
        cosines, rows = self._index.search(normalized(vectors), k)
        return cosines, rows

    def vectors(self, positions: Sequence[int]) -> FloatArray:
        """The normalized vectors (len(positions), E) at some positions."""
        found = [self._index.reconstruct(int(position)) for position in positions]
        return numpy.array(found, "f4").reshape(-1, self.vector_size)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the index to a file, which FAISS's own tools read as well.

        # Raises

        `ConfigurationError` if the file exists.
        """
        path = Path(path)
        if path.exists():
            raise ConfigurationError(f"{path} exists already; delete it or name another file")
        # A file of this name is always complete.
        partial = path.with_name(f"{path.name}.{uuid.uuid4().hex}.partial")
        try:
            _faiss().write_index(self._index, os.fspath(partial))
            os.link(partial, path)
        except FileExistsError:
            raise ConfigurationError(f"{path} exists already; name another file") from None
        except RuntimeError as error:
            raise ConfigurationError(f"{path} cannot be written: {error}") from error
        finally:
            partial.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "SentenceIndex":
        """The index in a file that `save` wrote.

        # Raises

        `ConfigurationError` for any other file.
        """
        faiss = _faiss()
        expected = f"{path} is not an index that `allennlp search` wrote"
        try:
            with open(path, "rb") as file:
                magic = file.read(len(MAGIC))
        except OSError as error:
            raise ConfigurationError(f"{path} cannot be read: {error}") from error
        if magic != MAGIC:
            raise ConfigurationError(f"{expected}: it begins with {magic!r}, not with {MAGIC!r}")
        try:
            index = faiss.read_index(os.fspath(path))
        except (RuntimeError, MemoryError) as error:
            raise ConfigurationError(f"{expected}, or it is damaged: {error}") from error
        if index.metric_type != faiss.METRIC_INNER_PRODUCT or index.d < 1:
            raise ConfigurationError(f"{expected}, or it is damaged")
        for start in range(0, index.ntotal, 8192):
            block = index.reconstruct_n(start, min(8192, index.ntotal - start))
            with numpy.errstate(over="ignore", invalid="ignore"):  # of what is refused below
                lengths = numpy.linalg.norm(block, axis=1)
            if not ((numpy.abs(lengths - 1) < 1e-3) | (lengths == 0)).all():
                raise ConfigurationError(f"{expected}: its vectors are not normalized")
        return cls(index)


def normalized(vectors: FloatArray) -> FloatArray:
    """Vectors (N, E) divided by their lengths, as a new array; a zero vector stays zero."""
    vectors = numpy.array(vectors, dtype=numpy.float32, order="C")
    # A sum of squares overflows where the largest component is large.
    largest = numpy.abs(vectors).max(axis=1, keepdims=True, initial=0)
    vectors /= numpy.where(largest > 0, largest, 1)
    lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= numpy.where(lengths > 0, lengths, 1)
    return vectors


def _faiss() -> Any:
    # At INFO, FAISS reports each instruction set that it has no build for as a failed import.
    if FAISS_LOGGER.level == logging.NOTSET:
        FAISS_LOGGER.setLevel(logging.WARNING)
    try:
        import faiss
    except ImportError as error:
        raise ConfigurationError(
            "searching needs the extra [search]: pip install faiss-cpu"
        ) from error
    return faiss
