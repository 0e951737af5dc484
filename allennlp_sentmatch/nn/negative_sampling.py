"""Pairs of a right and a wrong answer, to learn a ranking from."""

from typing import NamedTuple, Optional

import torch
from torch import Tensor


class AnswerPairs(NamedTuple):
    """N pairs of answers to the same question; each tensor is (N,), int64."""

    question: Tensor
    positive: Tensor
    negative: Tensor


def answer_pairs(labels: Tensor, num_negatives: Optional[int] = None) -> AnswerPairs:
    """Pair each right answer with wrong ones.

    # Parameters

    labels : `Tensor`
        (B, K): 1 for a right answer, 0 for a wrong one, anything else for padding.
    num_negatives : `int`, optional (default = `None`)
        How many wrong answers to draw for each right one, without replacement, or all if the
        question has fewer. By default all of them.

    # Returns

    `AnswerPairs`
        None for a question without a right or without a wrong answer.
    """
    question, positive = (labels == 1).nonzero(as_tuple=True)  # (P,), (P,)
    wrong = (labels == 0)[question]  # (P, K)
    if num_negatives is not None:
        # The wrong answers with the smallest random numbers, which are less than 1.
        numbers = torch.rand(wrong.shape, device=labels.device).masked_fill(~wrong, 1.0)
        ranks = numbers.argsort(dim=1).argsort(dim=1)
        wrong = wrong & (ranks < num_negatives)
    pair, negative = wrong.nonzero(as_tuple=True)  # (N,), (N,)
    return AnswerPairs(question[pair], positive[pair], negative)
