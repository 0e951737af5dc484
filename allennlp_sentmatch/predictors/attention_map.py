"""Attention in a predictor's output, with the words that it is between."""

from collections.abc import Sequence
from typing import NamedTuple


class AttentionMap(NamedTuple):
    """A matrix of attention.

    # Parameters

    title : `str`
    weights : `Sequence[Sequence[float]]`
        A row for each of `rows`, with a weight for each of `columns`.
    rows : `Sequence[str]`
        The words that attend, or one empty string for attention from nowhere.
    columns : `Sequence[str]`
        The words attended to.
    """

    title: str
    weights: Sequence[Sequence[float]]
    rows: Sequence[str]
    columns: Sequence[str]
