"""Pairs of a correct and an incorrect answer for training a ranking model."""

from typing import NamedTuple, Optional

import torch
from torch import Tensor


class AnswerPairs(NamedTuple):
    """N pairs of answers to the same question; each tensor is (N,), int64."""

    question: Tensor
    positive: Tensor
    negative: Tensor


def answer_pairs(labels: Tensor, num_negatives: Optional[int] = None) -> AnswerPairs:
    """Pair each correct answer with incorrect answers to the same question.

    # Parameters

    labels : `Tensor`
        (B, K): 1 for a correct answer, 0 for an incorrect one, any other value for padding.
    num_negatives : `int`, optional (default = `None`)
        The number of incorrect answers to sample for each correct one, without replacement; all
        of them if `None` or if the question has fewer.

    # Returns

    `AnswerPairs`
        No pairs for a question without a correct or without an incorrect answer.
    """
    question, positive = (labels == 1).nonzero(as_tuple=True)  # (P,), (P,)
    incorrect = (labels == 0)[question]  # (P, K)
    if num_negatives is not None:
        # Keep the incorrect answers with the smallest random numbers, which are less than 1.
        numbers = torch.rand(incorrect.shape, device=labels.device).masked_fill(~incorrect, 1.0)
        ranks = numbers.argsort(dim=1).argsort(dim=1)
        incorrect = incorrect & (ranks < num_negatives)
    pair, negative = incorrect.nonzero(as_tuple=True)  # (N,), (N,)
    return AnswerPairs(question[pair], positive[pair], negative)
