"""Blocks of iterables that need not be in memory as a whole."""

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def blocks_of(elements: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the elements as lists of `size`, at least 1; the last one may be shorter."""
    rest = iter(elements)
    while block := list(islice(rest, min(size, sys.maxsize))):
        yield block
