"""Attention in a predictor's output: between words, and over the tokens of a text."""

from collections.abc import Sequence
from typing import NamedTuple


class AttentionMap(NamedTuple):
    """A matrix of attention with the words that it is between.

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


class MarkedText(NamedTuple):
    """A text with a weight for each token and a marked span.

    # Parameters

    title : `str`
    text : `str`
    offsets : `Sequence[Sequence[int]]`
        The first character of each token, and the one after its last.
    weights : `Sequence[float]`
        One for each token, not negative.
    span : `Sequence[int]`
        The first and the last token of the marked part.
    """

    title: str
    text: str
    offsets: Sequence[Sequence[int]]
    weights: Sequence[float]
    span: Sequence[int]
