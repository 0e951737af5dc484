"""Scores of similarity, against Tai et al. (2015), section 4.2, computed a pair at a time."""

import math

import pytest
import torch
from torch.distributions import Categorical, kl_divergence

from allennlp_sentmatch.nn import (
    expected_grade,
    grade_distribution,
    grade_divergence,
    scaled_cosine,
)
from allennlp_sentmatch.nn.similarity import num_grades


def target(score: float, lowest: int, highest: int) -> list[float]:
    """Return the paper's distribution over the grades from the lowest to the highest."""
    floor = math.floor(score)
    p = [0.0] * (highest - lowest + 1)
    p[floor - lowest] = floor - score + 1
    if floor < score:
        p[floor + 1 - lowest] = score - floor
    return p


def targets(scores: torch.Tensor, lowest: int, highest: int) -> torch.Tensor:
    distributions = [target(score, lowest, highest) for score in scores.tolist()]
    return torch.tensor(distributions, dtype=torch.float64)


@pytest.mark.parametrize(("lowest", "highest"), [(1, 5), (0, 5), (-2, 1), (0, 1)])
def test_the_target_is_a_distribution_over_the_two_nearest_grades(lowest, highest):
    """Its expectation is the score."""
    scores = torch.linspace(lowest, highest, 31, dtype=torch.float64)
    distributions = grade_distribution(scores, lowest, highest)
    expected = targets(scores, lowest, highest)
    torch.testing.assert_close(distributions, expected, rtol=0, atol=1e-7)
    torch.testing.assert_close(distributions.sum(-1), torch.ones_like(scores))
    found = expected_grade(distributions.log(), lowest, highest)
    torch.testing.assert_close(found, scores)


def test_the_loss_is_the_mean_divergence_from_the_targets():
    torch.manual_seed(0)
    logits = torch.randn(6, 5, dtype=torch.float64, requires_grad=True)
    scores = torch.tensor([1.0, 5.0, 3.0, 1.25, 4.9, 2.5], dtype=torch.float64)
    loss = grade_divergence(logits, scores, 1, 5)
    target_distributions = Categorical(probs=targets(scores, 1, 5))
    divergences = kl_divergence(target_distributions, Categorical(logits=logits.detach()))
    assert loss.item() == pytest.approx(divergences.mean().item(), rel=1e-6)
    (gradient,) = torch.autograd.grad(loss, logits)
    # d KL(p || softmax(z)) / dz = softmax(z) - p
    difference = logits.softmax(-1) - grade_distribution(scores, 1, 5)
    torch.testing.assert_close(gradient, difference / 6)


def test_the_score_is_the_expected_grade():
    logits = torch.tensor([[0.0, math.log(3), 0.0], [-9.0, 0.0, 99.0], [200.0, 0.0, 0.0]])
    scores = expected_grade(logits, 2, 4)
    assert scores.tolist() == pytest.approx([(2 + 3 * 3 + 4) / 5, 4.0, 2.0])


def test_the_score_is_within_the_scale():
    scores = expected_grade(100 * torch.randn(1000, 6), 0, 5)
    assert scores.min() >= 0
    assert scores.max() <= 5


def test_scores_and_logits_may_be_of_different_types():
    loss = grade_divergence(torch.zeros(1, 2, dtype=torch.float64), torch.tensor([0.5]), 0, 1)
    assert loss.item() == pytest.approx(0)
    assert loss.dtype == torch.float64


@pytest.mark.parametrize(
    ("lowest", "highest"),
    [
        (0.5, 5),
        (0, 4.5),
        (3, 3),
        (5, 0),
    ],
)
def test_grades_are_whole_numbers_in_order(lowest, highest):
    with pytest.raises(ValueError, match=rf"whole numbers .* got {lowest} and {highest}"):
        num_grades(lowest, highest)


def test_grades_from_0_to_5():
    assert num_grades(0.0, 5.0) == 6


def test_the_cosine_is_scaled_from_0_and_1_to_the_ends():
    a = torch.tensor([[3.0, 4.0], [1.0, 0.0], [1.0, 0.0], [2.0, 2.0], [0.0, 0.0]])
    b = torch.tensor([[6.0, 8.0], [0.0, 2.0], [-1.0, 0.0], [0.0, 5.0], [1.0, 0.0]])
    cosines = [1, 0, -1, 1 / math.sqrt(2), 0]
    expected = [1 + 4 * cosine for cosine in cosines]
    assert scaled_cosine(a, b, 1, 5).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_costs_no_digits(dtype):
    torch.manual_seed(0)
    a, b = torch.randn(2, 9, 6).to(dtype)
    scores = torch.linspace(0, 5, 9)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        grade = expected_grade(a, 0, 5)
        divergence = grade_divergence(a, scores, 0, 5)
        cosine = scaled_cosine(a, b, 0, 5)
    a = a.float()
    b = b.float()
    torch.testing.assert_close(grade, expected_grade(a, 0, 5))
    torch.testing.assert_close(divergence, grade_divergence(a, scores, 0, 5))
    torch.testing.assert_close(cosine, scaled_cosine(a, b, 0, 5))


def test_scores_of_another_shape_are_refused():
    """The shape of regression targets, (B, 1), would be compared with all logits."""
    with pytest.raises(ValueError, match=r"scores must have .* \(2,\), got \(2, 1\)"):
        grade_divergence(torch.zeros(2, 5), torch.ones(2, 1), 1, 5)
