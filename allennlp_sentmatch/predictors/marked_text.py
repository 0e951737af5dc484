"""A text in a predictor's output, with weights of its tokens and a marked part."""

from collections.abc import Sequence
from typing import NamedTuple


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
