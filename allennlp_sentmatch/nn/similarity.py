"""Scores of pairs of sentences, between a lowest and a highest one.

Tai, Socher and Manning 2015 (https://arxiv.org/abs/1503.00075, section 4.2) predict a distribution
q over the integer grades k = lowest .. highest. The score is its expectation,

    score = sum_k k q_k,

and the loss of a pair with the score y is the divergence KL(p || q) from the target

    p_k = floor(y) + 1 - y    for k = floor(y)
    p_k = y - floor(y)        for k = floor(y) + 1
    p_k = 0                   for other k,

the distribution over the two nearest grades whose expectation is y.

`scaled_cosine` maps the cosine of two vectors to a score, from 0 (the lowest) to 1 (the highest).
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.precision import at_least_float32


def num_grades(lowest: float, highest: float) -> int:
    """Count the integer grades from `lowest` to `highest`.

    Raise a `ValueError` if one of them is not a whole number, or they are not in this order.
    """
    are_whole = float(lowest).is_integer() and float(highest).is_integer()
    if not (are_whole and lowest < highest):
        raise ValueError(
            "grades need whole numbers as the lowest and the highest score, the highest one being "
            f"greater; got {lowest} and {highest}"
        )
    return int(highest - lowest) + 1


def grade_distribution(
    scores: Tensor,
    lowest: float,
    highest: float,
) -> Tensor:
    """Return the target distributions p, (..., K), of `scores` (...) within [lowest, highest]."""
    grades = _grades(scores, lowest, highest)
    distances = (scores.unsqueeze(-1) - grades).abs()  # (..., K)
    return (1 - distances).clamp(min=0)


def expected_grade(
    logits: Tensor,
    lowest: float,
    highest: float,
) -> Tensor:
    """Return the scores (...) of the distributions q with the `logits` (..., K)."""
    logits = at_least_float32(logits)
    grades = _grades(logits, lowest, highest)
    scores = (logits.softmax(dim=-1) * grades).sum(dim=-1)
    return scores.clamp(lowest, highest)  # corrects rounding


def grade_divergence(
    logits: Tensor,
    scores: Tensor,
    lowest: float,
    highest: float,
) -> Tensor:
    """Return the mean of KL(p || q), a scalar, from q's `logits` (B, K) and true `scores` (B,)."""
    if scores.shape != logits.shape[:-1]:  # the divergence would broadcast other shapes
        raise ValueError(
            f"scores must have the shape of logits without the grades, {tuple(logits.shape[:-1])}, "
            f"got {tuple(scores.shape)}"
        )
    logits = at_least_float32(logits)
    targets = grade_distribution(scores, lowest, highest).to(logits.dtype)
    return F.kl_div(logits.log_softmax(dim=-1), targets, reduction="batchmean")


def scaled_cosine(
    a: Tensor,
    b: Tensor,
    lowest: float,
    highest: float,
) -> Tensor:
    """Return lowest + (highest - lowest) cos(a, b), (...), for vectors (..., d).

    It is less than `lowest` if the cosine is negative. The cosine of a zero vector is 0.
    """
    cosines = F.cosine_similarity(at_least_float32(a), at_least_float32(b), dim=-1)
    return lowest + (highest - lowest) * cosines


def _grades(
    like: Tensor,
    lowest: float,
    highest: float,
) -> Tensor:
    """Return the grades (K,)."""
    count = num_grades(lowest, highest)
    return lowest + torch.arange(count, dtype=like.dtype, device=like.device)
