"""Measures of a ranking as trec_eval computes them, and the order that they judge.

With the K candidates of a question in the order of their scores, the best first, and rel_k whether
the k-th is relevant:

    average precision = sum_k rel_k * (rel_1 + ... + rel_k) / k  /  number of relevant ones
    reciprocal rank   = 1 / min {k: rel_k}

Both are 0 for a question without a relevant candidate. Of candidates with equal scores, the later
one comes first: that is trec_eval's order of documents named "0000", "0001", ...
"""

import torch
from torch import Tensor


def rank_order(scores: Tensor, mask: Tensor) -> Tensor:
    """The candidates' positions, the best first.

    # Parameters

    scores : `Tensor`
        (B, K)
    mask : `Tensor`
        (B, K), bool: `False` where a question has no candidate.

    # Returns

    `Tensor`
        (B, K), int64, a permutation in each row. What is masked comes last.
    """
    # Both sorts are stable, and the first one sees the later candidates first.
    backwards = scores.flip(-1).sort(dim=-1, descending=True, stable=True).indices
    order = scores.size(-1) - 1 - backwards
    masked_last = (~mask).gather(-1, order).long().sort(dim=-1, stable=True).indices
    return order.gather(-1, masked_last)


def average_precision(scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
    """The average precision (B,), float64, of scores, bool relevance and mask, each (B, K)."""
    ranked = _ranked_relevance(scores, relevant, mask)
    ranks = torch.arange(1, ranked.size(-1) + 1, device=ranked.device)
    precisions = ranked.cumsum(-1) / ranks  # (B, K)
    return (ranked * precisions).sum(-1) / ranked.sum(-1).clamp(min=1)


def reciprocal_rank(scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
    """The reciprocal rank (B,), float64, of scores, bool relevance and mask, each (B, K)."""
    ranked = _ranked_relevance(scores, relevant, mask)
    ranks = torch.arange(1, ranked.size(-1) + 1, device=ranked.device)
    reciprocals: Tensor = (ranked / ranks).max(dim=-1).values
    return reciprocals


def _ranked_relevance(scores: Tensor, relevant: Tensor, mask: Tensor) -> Tensor:
    """The 0 or 1 (B, K), float64, of each rank."""
    return (relevant & mask).gather(-1, rank_order(scores, mask)).double()
