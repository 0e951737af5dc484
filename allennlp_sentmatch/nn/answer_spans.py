"""The most probable spans of passages, and windows of long passages, whose best spans compete."""

from collections.abc import Iterator
from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.checks import COUNT, check_kind, check_positive, optional


class BestSpans(NamedTuple):
    """The result of `best_spans`."""

    spans: Tensor
    """(B, count, 2): the first and the last token, both within the span; -1 without a span."""
    scores: Tensor
    """(B, count), the best first; -inf without a span."""


def best_spans(
    start: Tensor,
    end: Tensor,
    count: int = 1,
    max_length: Optional[int] = None,
) -> BestSpans:
    """Find the spans with the largest sums of their start and end scores.

    `start` and `end` (B, T) are the scores of each token as the first and as the last one, -inf
    where a span cannot start or end, as at padding. With log-probabilities, a span's score is the
    logarithm of its probability. Each passage gets `count` spans of at most `max_length` tokens.
    """
    check_positive(count=count)
    check_kind(optional(COUNT), max_length=max_length)
    B, T = start.shape
    spans = torch.full((B, count, 2), -1, dtype=torch.long, device=start.device)
    scores = start.new_full((B, count), -torch.inf)
    if B == 0 or T == 0:
        return BestSpans(spans, scores)
    L = T if max_length is None else min(max_length, T)
    # ends[b, i, k] is the score of token i + k as the last one.
    padded_end = F.pad(end, (0, L - 1), value=-torch.inf)
    ends = padded_end.unfold(1, L, 1)  # (B, T, L)
    sums = start.unsqueeze(-1) + ends  # (B, T, L)
    num_found = min(count, T * L)
    best = sums.flatten(1).topk(num_found, dim=1)
    first = torch.div(best.indices, L, rounding_mode="floor")
    last = first + best.indices % L
    is_none = ~(best.values > -torch.inf)  # also if the scores are not numbers
    pairs = torch.stack([first, last], -1)  # (B, num_found, 2)
    spans[:, :num_found] = pairs.masked_fill(is_none.unsqueeze(-1), -1)
    scores[:, :num_found] = best.values
    return BestSpans(spans, scores)


class PassageWindows(NamedTuple):
    """N windows of W tokens of B passages of at most T tokens, in the passages' order.

    Each window is read like a separate passage. Spans compete by the sums of their scores before
    the softmax: a window without the answer can give low scores to all of its spans, while its
    probabilities always have the sum 1.
    """

    passages: Tensor
    """(N,), long: which passage of the batch."""
    positions: Tensor
    """(N, W), long: the tokens, counted from the first one of the passage."""
    mask: Tensor
    """(N, W), bool: whether the passage has the token."""

    @classmethod
    def of(
        cls,
        mask: Tensor,
        size: int,
        stride: int,
    ) -> "PassageWindows":
        """Begin a window of `size` tokens at every `stride` tokens, until one reaches the end.

        Both are at least 1. The `mask` is (B, T). A passage has at least one window.
        """
        lengths = mask.sum(dim=1)  # (B,)
        windows = []
        for passage, length in enumerate(lengths.tolist()):
            last_start = max(length - size, 0) + stride
            windows += [(passage, start) for start in range(0, last_start, stride)]
        pairs = torch.tensor(windows, device=mask.device).view(-1, 2)  # (N, 2)
        passages, starts = pairs.unbind(1)
        positions = starts.unsqueeze(1) + torch.arange(size, device=mask.device)  # (N, W)
        has_token = positions < lengths[passages].unsqueeze(1)
        return cls(passages, positions, has_token)

    def split(self, count: int) -> Iterator["PassageWindows"]:
        """Yield the windows, at most `count` at a time."""
        return map(PassageWindows._make, zip(*(part.split(count) for part in self)))

    def select(self, windows: Tensor) -> "PassageWindows":
        """Return the windows with these numbers, (K,)."""
        return PassageWindows._make(part[windows] for part in self)

    def cut(self, passages: Tensor) -> Tensor:
        """Cut the windows (N, W, ...) out of the passages (B, T, ...), with arbitrary values at
        padding.
        """
        last = passages.size(1) - 1
        return passages[self.passages.unsqueeze(1), self.positions.clamp(max=last)]

    def join(self, scores: Tensor, num_tokens: int) -> Tensor:
        """Give each of the T tokens of the passages the largest of its scores (N, W) in windows:
        (B, T), the smallest number of the type at padding.
        """
        B = int(self.passages[-1]) + 1
        smallest = torch.finfo(scores.dtype).min
        lowest = scores.new_full((B * num_tokens,), smallest)
        first_tokens = self.passages.unsqueeze(1) * num_tokens  # (N, 1), the passages' rows
        index = first_tokens + self.positions  # (N, W)
        joined = lowest.scatter_reduce(0, index[self.mask], scores[self.mask], "amax")
        return joined.view(B, num_tokens)

    def best_spans(
        self,
        start: Tensor,
        end: Tensor,
        count: int = 1,
        max_length: Optional[int] = None,
    ) -> tuple[BestSpans, Tensor]:
        """Find the best spans of the passages in all of their windows, as the function `best_spans`
        does, from the scores (N, W) of each token as the first and as the last one.

        A span in several windows counts once, with its largest score. Also return the numbers (B,)
        of the windows that have the best spans.
        """
        padding = ~self.mask
        start = start.masked_fill(padding, -torch.inf)
        end = end.masked_fill(padding, -torch.inf)
        found = best_spans(start, end, count, max_length)  # a row for each window
        in_passages = found.spans + self.positions[:, :1, None]
        spans = torch.where(found.spans < 0, -1, in_passages)  # (N, count, 2)
        B = int(self.passages[-1]) + 1
        no_spans = spans.new_full((B, count, 2), -1)
        best = BestSpans(no_spans, start.new_full((B, count), -torch.inf))
        best_windows = []
        for passage in range(B):
            (windows,) = (self.passages == passage).nonzero(as_tuple=True)  # (K,)
            scores = found.scores[windows]  # (K, count)
            candidates = spans[windows].flatten(0, 1)  # (K * count, 2)
            distinct, index = candidates.unique(dim=0, return_inverse=True)
            lowest = scores.new_full((len(distinct),), -torch.inf)
            largest = lowest.scatter_reduce(0, index, scores.flatten(), "amax")
            num_found = min(count, len(distinct))
            top = largest.topk(num_found)
            best.spans[passage, :num_found] = distinct[top.indices]
            best.scores[passage, :num_found] = top.values
            # In ties, take a window that contains the chosen span.
            is_other = (index != top.indices[0]).view_as(scores)
            of_windows = scores.masked_fill(is_other, -torch.inf).amax(1)  # (K,)
            best_windows.append(windows[of_windows.argmax()])
        return best, torch.stack(best_windows)
