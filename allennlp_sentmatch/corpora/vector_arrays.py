"""Arrays of vectors from users: checks, and choosing and reading some of their rows."""

from collections.abc import Sequence, Sized
from typing import Any, Optional, Union

import numpy
from torch import Tensor

from allennlp_sentmatch.array_types import Array, FloatArray, IntArray
from allennlp_sentmatch.standalone.vectors import normalized

LARGEST = numpy.finfo(numpy.float32).max


def as_array(vectors: Any, name: str) -> Array:
    """Return vectors as floating-point numbers, from an array, a tensor or lists.

    Arrays of floating-point numbers stay as they are. Raise `ValueError`, which begins with the
    `name`, for anything else.
    """
    try:
        if isinstance(vectors, Tensor):
            vectors = vectors.detach().float().cpu().numpy()
        vectors = _without_mask(vectors)
        if isinstance(vectors, numpy.ndarray) and vectors.dtype.kind == "f":
            return vectors
        return numpy.asarray(vectors, dtype=numpy.float32)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error!s:.99}") from error


def as_table(vectors: Any, vector_size: Optional[int] = None) -> FloatArray:
    """Return vectors (N, E) as an array; memory maps stay as they are.

    `vector_size` is E, if given. Raise `ValueError` for anything but a table of floating-point
    numbers of that size.
    """
    table: FloatArray = numpy.asanyarray(_without_mask(vectors))
    is_table = table.ndim == 2 and table.shape[1] > 0 and table.dtype.kind == "f"
    if not is_table or vector_size not in (None, table.shape[1]):
        raise ValueError(
            "expected vectors as a table of floating-point numbers (number, "
            f"{vector_size or 'size'}), got the shape {table.shape} of {table.dtype}"
        )
    return table


def _without_mask(vectors: Any) -> Any:
    """Return vectors with NaN for masked numbers, which are missing, and anything else as it is."""
    if isinstance(vectors, numpy.ma.MaskedArray):
        return numpy.ma.filled(vectors.astype(numpy.float32), numpy.nan)
    return vectors


def as_rows(rows: Union[Sequence[int], IntArray]) -> IntArray:
    """Return rows as an array; raise `ValueError` for anything but integers of at least 0."""
    chosen = numpy.asarray(rows)
    are_integers = chosen.ndim == 1 and (chosen.dtype.kind in "iu" or not len(chosen))
    is_masked = isinstance(rows, numpy.ma.MaskedArray)
    if are_integers:
        chosen = chosen.astype(numpy.int64)  # unsigned ones from 2^63 on become negative
    if is_masked or not are_integers or chosen.min(initial=0) < 0:
        raise ValueError(
            "rows must be a list of integers of at least 0; a mask becomes one by "
            "numpy.flatnonzero(mask)"
        )
    return chosen


def chosen_rows(vectors: Sized, rows: Union[Sequence[int], IntArray, None]) -> IntArray:
    """Return the given rows, or by default all rows of the vectors (N, E).

    Raise `ValueError` for anything but integers from 0 to N - 1.
    """
    if rows is None:
        return numpy.arange(len(vectors))
    chosen = as_rows(rows)
    if chosen.max(initial=0) >= max(len(vectors), 1):
        raise ValueError(f"there are {len(vectors)} vectors, and no row {chosen.max()}")
    return chosen


def evenly(number: int, limit: int) -> IntArray:
    """Return at most `limit` positions, spread evenly from 0 to `number` - 1, with both ends."""
    positions = numpy.linspace(0, number - 1, min(number, limit))
    return numpy.unique(positions.astype(numpy.int64))


def read_normalized(vectors: FloatArray, rows: IntArray) -> FloatArray:
    """Return some rows of the vectors, normalized; raise `ValueError` if they are not finite."""
    block = numpy.asarray(vectors[rows], dtype=numpy.float32)
    check_finite(block, "in row {} (counted from 0)", rows)  # unlike lines of files
    return normalized(block)


def check_finite(vectors: Array, place: str, rows: IntArray) -> None:
    """Raise a `ValueError` that names the first of the `rows` (N,) with a bad vector (E,).

    Its components must be finite numbers in float32. `place` is the name of a row, such as
    "in row {}".
    """
    finite = (numpy.abs(vectors) <= LARGEST).all(axis=1)
    if not finite.all():
        name = place.format(rows[finite.argmin()])
        raise ValueError(f"the vector {name} has a component that is not a finite number")
