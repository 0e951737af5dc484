"""Vectors in memory or on disk, compared with one vector at a time."""

from collections.abc import Iterator

import numpy

from allennlp_sentmatch.array_types import Array, FloatArray, IntArray
from allennlp_sentmatch.corpora.vector_arrays import check_finite

ROWS_TOGETHER = 8192  # rows that are copied at a time, if a copy is needed

SLACK = 1e-4  # above the error of a cosine in float32

SAFE_SQUARES = 1e-30, 1e30
"""Limits of squared lengths whose products have full precision in float32."""


class VectorTable:
    """A table of N vectors, which is neither copied nor changed.

    The lengths of the vectors are computed once. A cosine is computed in float64 and rounded once:
    equal vectors have equal cosines, regardless of their rows.

    # Parameters

    vectors : `numpy.ndarray`
        (N, E), floating-point numbers, preferably float32; may be a memory map.

    # Raises

    `ValueError` that names the first row with a component that is not a finite number.
    """

    def __init__(self, vectors: Array) -> None:
        self._vectors = vectors
        squares = numpy.zeros(len(vectors), numpy.float32)
        for start, block in self._blocks():
            squares[start : start + len(block)] = _squares(block)
        least, most = SAFE_SQUARES
        is_safe = (squares >= least) & (squares <= most)
        self._extreme = numpy.flatnonzero(~is_safe)  # these include zero vectors
        for start in range(0, len(self._extreme), ROWS_TOGETHER):
            rows = self._extreme[start : start + ROWS_TOGETHER]
            check_finite(vectors[rows], "in row {}", rows)
        self._lengths = numpy.sqrt(numpy.where(is_safe, squares, 1))

    def __len__(self) -> int:
        return len(self._vectors)

    def cosines(self, rows: IntArray, vector: FloatArray) -> FloatArray:
        """Return the cosines (R,) of the vectors in some rows (R,) with a vector (E,).

        The cosine with a zero vector is 0.
        """
        found = numpy.zeros(len(rows), numpy.float32)
        for start in range(0, len(rows), ROWS_TOGETHER):
            block = slice(start, start + ROWS_TOGETHER)
            found[block] = _cosines(self._vectors[rows[block]], vector)
        return found

    def normalized(self, rows: IntArray) -> Array:
        """Return the vectors in some rows (R,), divided by their lengths, (R, E) in float64."""
        return _normalized(self._vectors[rows])

    def nearest(self, vector: FloatArray, k: int) -> list[tuple[int, float]]:
        """Find the rows with the largest cosines to a vector (E,).

        Return at most `k` rows with their cosines, the largest first, and of equal ones the first
        row first.
        """
        rows = self._candidates(vector, k)
        cosines = self.cosines(rows, vector)
        order = numpy.argsort(-cosines, kind="stable")[:k]
        return [(int(rows[i]), float(cosines[i])) for i in order]

    @numpy.errstate(over="ignore", invalid="ignore")  # extreme vectors are always candidates
    def _candidates(self, vector: FloatArray, k: int) -> IntArray:
        """Return all rows (R,) that may be among the `k` nearest, in ascending order.

        Cosines in float32 decide, which may be wrong by the `SLACK`; vectors of extreme lengths,
        whose cosines may be wrong by more, are always among them.
        """
        if k >= len(self):
            return numpy.arange(len(self))
        direction = _normalized(vector).astype(numpy.float32)
        near = numpy.empty(len(self), numpy.float32)
        for start, block in self._blocks():
            near[start : start + len(block)] = block @ direction
        near /= self._lengths
        near[self._extreme] = -numpy.inf
        place_of_last = len(near) - k
        last = numpy.partition(near, place_of_last)[place_of_last]
        is_candidate = near >= last - 2 * SLACK
        is_candidate[self._extreme] = True
        return numpy.flatnonzero(is_candidate)

    def _blocks(self) -> Iterator[tuple[int, FloatArray]]:
        """Yield blocks of rows in float32, each with the number of its first row.

        Of a table in float32, they are views.
        """
        for start in range(0, len(self), ROWS_TOGETHER):
            with numpy.errstate(over="ignore"):  # numbers that are infinite in float32 are refused
                block = numpy.asarray(self._vectors[start : start + ROWS_TOGETHER], numpy.float32)
            yield start, block


def _normalized(vectors: Array) -> Array:
    """Return vectors (..., E) divided by their lengths, in float64; zero vectors stay zero."""
    vectors = numpy.asarray(vectors, numpy.float64)
    lengths = numpy.linalg.norm(vectors, axis=-1, keepdims=True)
    normalized: Array = vectors / numpy.where(lengths > 0, lengths, 1)
    return normalized


def _cosines(vectors: Array, vector: Array) -> Array:
    """Return the cosines (N,) of vectors (N, E) with a vector (E,)."""
    products = numpy.einsum("ne,e->n", _normalized(vectors), _normalized(vector))
    cosines: Array = products.clip(-1, 1)
    return cosines


@numpy.errstate(over="ignore")  # such rows are treated separately
def _squares(vectors: FloatArray) -> FloatArray:
    """Return the squares of the lengths of vectors (N, E) in float32, (N,)."""
    squares: FloatArray = numpy.einsum("ne,ne->n", vectors, vectors)
    return squares
