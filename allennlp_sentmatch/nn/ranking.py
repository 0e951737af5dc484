"""Answers to questions: training pairs, their loss, and the ranking's measures, as in trec_eval.

K candidates are ordered by score, the best first; rel_k is 1 if the k-th is relevant, else 0:

    average precision = sum_k rel_k * (rel_1 + ... + rel_k) / k  /  number of relevant candidates
    reciprocal rank   = 1 / min {k: rel_k}

Both are 0 for a question without a relevant candidate. Of candidates with equal scores, the later
one comes first; trec_eval orders documents named "0000", "0001", ... in the same manner.
"""

from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import Tensor


def rank_order(scores: Tensor, mask: Tensor) -> Tensor:
    """Sort the candidates by score (B, K), the best first, and return their indices (B, K), int64.

    Entries for which the `mask` (B, K) is `False` are not candidates, and come last.
    """
    # Both sorts are stable. The first one sorts the flipped scores, so that later candidates win.
    flipped = scores.flip(-1).sort(dim=-1, descending=True, stable=True)
    order = scores.size(-1) - 1 - flipped.indices
    is_missing = (~mask).gather(-1, order).long()
    masked_last = is_missing.sort(dim=-1, stable=True)
    return order.gather(-1, masked_last.indices)


def average_precision(
    scores: Tensor,
    relevant: Tensor,
    mask: Tensor,
) -> Tensor:
    """Compute average precision (B,), float64, from scores, bool relevance and mask, all (B, K)."""
    ranked, ranks = _ranked_relevance(scores, relevant, mask)
    precisions = ranked.cumsum(-1) / ranks  # (B, K)
    num_relevant = ranked.sum(-1).clamp(min=1)  # (B,)
    return (ranked * precisions).sum(-1) / num_relevant


def reciprocal_rank(
    scores: Tensor,
    relevant: Tensor,
    mask: Tensor,
) -> Tensor:
    """Compute reciprocal rank (B,), float64, from scores, bool relevance and mask, all (B, K)."""
    ranked, ranks = _ranked_relevance(scores, relevant, mask)
    # The appended zero is the maximum if there are no candidates.
    reciprocals = F.pad(ranked / ranks, (0, 1))
    return reciprocals.amax(dim=-1)


def _ranked_relevance(
    scores: Tensor,
    relevant: Tensor,
    mask: Tensor,
) -> tuple[Tensor, Tensor]:
    """Return rel_k for each rank k, (B, K), float64, and the ranks 1 .. K."""
    order = rank_order(scores, mask)
    ranked = (relevant & mask).gather(-1, order).double()
    ranks = torch.arange(1, scores.size(-1) + 1, device=scores.device)
    return ranked, ranks


class AnswerPairs(NamedTuple):
    """N pairs of answers to the same question; each tensor is (N,), int64."""

    question: Tensor
    positive: Tensor
    negative: Tensor


def answer_pairs(labels: Tensor, num_negatives: Optional[int] = None) -> AnswerPairs:
    """Pair each correct answer with incorrect answers to the same question.

    The labels (B, K) are 1 for a correct answer, 0 for an incorrect one, and any other number for
    padding. For each correct answer, sample `num_negatives` incorrect ones without replacement; all
    if it is `None` or there are fewer. A question that lacks either kind has no pairs.
    """
    question, positive = (labels == 1).nonzero(as_tuple=True)  # (P,), (P,)
    incorrect = (labels == 0)[question]  # (P, K)
    if num_negatives is not None:
        # Keep the incorrect answers with the smallest random numbers, which are less than 1.
        numbers = torch.rand(incorrect.shape, device=labels.device)
        order = numbers.masked_fill(~incorrect, 1.0).argsort(dim=1)
        ranks = order.argsort(dim=1)
        incorrect = incorrect & (ranks < num_negatives)
    pair, negative = incorrect.nonzero(as_tuple=True)  # (N,), (N,)
    return AnswerPairs(question[pair], positive[pair], negative)


def ranking_loss(
    scores: Tensor,
    pairs: AnswerPairs,
    margin: float,
    hardest: bool,
) -> Tensor:
    """Average the hinge loss max(0, margin - score(correct) + score(incorrect)); 0 without pairs.

    `scores` (B, K) are the scores of all candidates. With `hardest`, the average is over correct
    answers, not over pairs. Of a correct answer's pairs, only the one with the highest-scored
    incorrect answer counts (dos Santos et al. 2016).
    """
    positive = scores[pairs.question, pairs.positive]  # (N,)
    negative = scores[pairs.question, pairs.negative]
    losses = (margin + (negative - positive)).clamp(min=0)
    if hardest:
        correct = pairs.question * scores.size(1) + pairs.positive  # (N,)
        answers, group = correct.unique(return_inverse=True)  # (P,), (N,)
        zeros = losses.new_zeros(len(answers))
        losses = zeros.scatter_reduce(0, group, losses, "amax")  # (P,)
    return losses.sum() / max(len(losses), 1)
