"""Positions of equal vectors, which an index stores once.

A vector's number is its place among the distinct vectors, in the order in which they occur first.
"""

from typing import Optional

import numpy

from allennlp_sentmatch.array_types import IntArray


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
