"""Positions of equal vectors, which an index stores once.

A vector's number is its place among the distinct vectors, in the order in which they occur first.
"""

import hashlib
from typing import Any, Optional

import numpy

from allennlp_sentmatch.array_types import FloatArray, IntArray
from allennlp_sentmatch.corpora.vector_arrays import read_normalized

BLOCK_SIZE = 8192  # vectors that are read and added to an index at a time


class DistinctVectors:
    """Tells which of the distinct vectors is at each of N positions.

    # Parameters

    num_positions : `int`
        N.
    numbers : `numpy.ndarray`, optional (default = `None`)
        (N,), the number of the vector at each position; by default, no two vectors are equal, and
        the numbers are the positions.
    """

    def __init__(self, num_positions: int, numbers: Optional[IntArray] = None) -> None:
        self.numbers = numbers
        self._num_positions = num_positions
        if numbers is not None:
            self._positions = numpy.argsort(numbers, kind="stable")  # the positions of each vector
            self._starts = numpy.append(0, numpy.bincount(numbers).cumsum())

    def __len__(self) -> int:
        return self._num_positions

    def at(self, positions: IntArray) -> IntArray:
        """Return the numbers (P,) of the vectors at some positions (P,)."""
        return positions if self.numbers is None else self.numbers[positions]

    def first_positions(self, numbers: IntArray) -> IntArray:
        """Return the first position (M,) of each of some vectors, given their numbers (M,)."""
        if self.numbers is None:
            return numbers
        first: IntArray = self._positions[self._starts[numbers]]
        return first

    def positions(self, number: int, limit: int) -> list[int]:
        """Return at most `limit` positions of a vector, in ascending order."""
        if self.numbers is None:
            return [number]
        start, end = self._starts[number : number + 2].tolist()
        positions: list[int] = self._positions[start : min(end, start + limit)].tolist()
        return positions


def add_distinct(index: Any, vectors: FloatArray, rows: IntArray) -> IntArray:
    """Add the vectors in some rows (N,) that FAISS's `index` lacks; return all numbers (N,).

    Equal vectors are added once: searches would never leave a graph of equal vectors.
    """
    numbers = numpy.empty(len(rows), numpy.int64)
    known: dict[bytes, int] = {}
    for start in range(0, len(rows), BLOCK_SIZE):
        block = read_normalized(vectors, rows[start : start + BLOCK_SIZE])
        new: list[int] = []
        for position, vector in enumerate(block + 0.0, start):  # turns -0.0 into 0.0
            digest = hashlib.blake2b(vector.data, digest_size=16).digest()
            number = known.setdefault(digest, len(known))
            numbers[position] = number
            num_added = index.ntotal + len(new)
            if number == num_added:  # the first number that the index lacks
                new.append(position - start)
        index.add(block[new])
    return numbers
