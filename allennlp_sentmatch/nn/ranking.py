"""Ranking measures as trec_eval computes them, and the ranking itself.

The K candidates of a question are ordered by score, the best first; rel_k is 1 if the k-th of them
is relevant, else 0:

    average precision = sum_k rel_k * (rel_1 + ... + rel_k) / k  /  number of relevant candidates
    reciprocal rank   = 1 / min {k: rel_k}

Both are 0 for a question without a relevant candidate. Of candidates with equal scores, the later
one comes first; trec_eval orders documents named "0000", "0001", ... in the same manner.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


def rank_order(scores: Tensor, mask: Tensor) -> Tensor:
    """Sort the candidates by score, the best first.

    # Parameters

    scores : `Tensor`
        (B, K)
    mask : `Tensor`
        (B, K), bool: `False` where a question has no candidate.

    # Returns

    `Tensor`
        The candidates' indices, (B, K), int64. Masked candidates come last.
    """
    # Both sorts are stable. The first one sorts the flipped scores, so that later candidates win.
    flipped = scores.flip(-1).sort(dim=-1, descending=True, stable=True).indices
    order = scores.size(-1) - 1 - flipped
    masked_last = (~mask).gather(-1, order).long().sort(dim=-1, stable=True).indices
    return order.gather(-1, masked_last)


def average_precision(scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
    """Compute average precision (B,), float64, from scores, bool relevance and mask, all (B, K)."""
    ranked = _ranked_relevance(scores, relevant, mask)
    ranks = torch.arange(1, ranked.size(-1) + 1, device=ranked.device)
    precisions = ranked.cumsum(-1) / ranks  # (B, K)
    return (ranked * precisions).sum(-1) / ranked.sum(-1).clamp(min=1)


def reciprocal_rank(scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
    """Compute reciprocal rank (B,), float64, from scores, bool relevance and mask, all (B, K)."""
    ranked = _ranked_relevance(scores, relevant, mask)
    ranks = torch.arange(1, ranked.size(-1) + 1, device=ranked.device)
    # The appended zero is the maximum where there are no candidates.
    reciprocals: Tensor = F.pad(ranked / ranks, (0, 1)).max(dim=-1).values
    return reciprocals


def _ranked_relevance(scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
    """Return rel_k for each rank k, (B, K), float64."""
    return (relevant & mask).gather(-1, rank_order(scores, mask)).double()
