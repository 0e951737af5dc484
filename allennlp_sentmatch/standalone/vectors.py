"""Arithmetic of sentence vectors."""

import numpy

from allennlp_sentmatch.array_types import FloatArray


def normalized(vectors: FloatArray) -> FloatArray:
    """Return vectors (N, E) divided by their lengths, as a new array; zero vectors stay zero."""
    vectors = numpy.array(vectors, dtype=numpy.float32, order="C")
    # The sum of squares of large components may overflow.
    largest = numpy.abs(vectors).max(axis=1, keepdims=True, initial=0)
    vectors /= numpy.where(largest > 0, largest, 1)
    lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= numpy.where(lengths > 0, lengths, 1)
    return vectors


def cosines(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the cosines (...) of normalized vectors (..., E) and (..., E), from -1 to 1.

    They are sums in float64, rounded once: equal vectors have equal cosines, regardless of their
    positions.
    """
    sums: FloatArray = numpy.einsum("...e,...e->...", first, second, dtype=numpy.float64)
    return sums.clip(-1, 1).astype(numpy.float32)


def nearest(query: FloatArray, vectors: FloatArray, count: int) -> list[tuple[int, float]]:
    """Return the `count` rows of vectors (N, E) nearest to a query (E,), with their cosines.

    All vectors are normalized. The nearest is first; ties are in the order of the rows. If there
    are fewer than `count` rows, all are returned.
    """
    found = cosines(vectors, query)  # (N,)
    order = numpy.argsort(-found, kind="stable")[:count]
    return [(int(row), float(found[row])) for row in order]
