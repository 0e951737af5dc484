"""The most probable spans of a passage."""

from typing import NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_positive


class BestSpans(NamedTuple):
    """The result of `best_spans`."""

    spans: Tensor
    """(B, count, 2): the first and the last token, both within the span; -1 without a span."""
    scores: Tensor
    """(B, count), not increasing; -inf without a span."""


def best_spans(
    start: Tensor, end: Tensor, count: int = 1, max_length: Optional[int] = None
) -> BestSpans:
    """Find the spans with the largest sum of their start's and their end's score.

    With log-probabilities, a span's score is the logarithm of its probability.

    # Parameters

    start, end : `Tensor`
        Shape (B, T): the score of each token as the first and as the last one; -inf where a span
        cannot start or end, as at padding.
    count : `int`, optional (default = `1`)
        How many spans to find for each passage.
    max_length : `int`, optional (default = `None`)
        The largest number of tokens in a span.

    # Returns

    `BestSpans`
        Best first. Where a passage has fewer spans, the rest is filled up.

    # Raises

    `ValueError`
        If `count` or `max_length` is less than 1.
    """
    check_positive(count=count)
    if max_length is not None:
        check_positive(max_length=max_length)
    B, T = start.shape
    spans = torch.full((B, count, 2), -1, dtype=torch.long, device=start.device)
    scores = start.new_full((B, count), -torch.inf)
    if B == 0 or T == 0:
        return BestSpans(spans, scores)
    L = T if max_length is None else min(max_length, T)
    # ends[b, i, k] is the score of token i + k as the last one.
    ends = torch.nn.functional.pad(end, (0, L - 1), value=-torch.inf).unfold(1, L, 1)  # (B, T, L)
    best = (start.unsqueeze(-1) + ends).flatten(1).topk(min(count, T * L), dim=1)
    first = torch.div(best.indices, L, rounding_mode="floor")
    last = first + best.indices % L
    found = best.values > -torch.inf
    pairs = torch.stack([first, last], -1).masked_fill(~found.unsqueeze(-1), -1)
    spans[:, : pairs.size(1)] = pairs
    scores[:, : pairs.size(1)] = best.values
    return BestSpans(spans, scores)
