import math

import pytest
import torch

from allennlp_sentmatch.nn.cs_lvm import (
    UncertaintyWeighting,
    label_constraint,
    latent_constraint,
    mean_direction_constraint,
)
from allennlp_sentmatch.nn.distributions import VonMisesFisher


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_label_constraint_by_hand():
    log_probs = torch.stack([tensor(0.5, 0.5), tensor(0.2, 0.8)]).log()
    constraint = label_constraint(log_probs, torch.tensor([0, 1]))
    assert constraint.item() == pytest.approx(-(math.log(0.5) + math.log(0.8)) / 2, rel=1e-12)


def test_latent_constraint_by_hand():
    # On the sphere C = k / (4 pi sinh k); the two latents are at cosines 1 and 0 from the mean.
    loc = torch.stack([tensor(1.0, 0.0, 0.0)] * 2)
    latents = torch.stack([tensor(1.0, 0.0, 0.0), tensor(0.0, 0.0, 1.0)])
    constraint = latent_constraint(VonMisesFisher(loc, tensor(2.0)), latents)
    log_normalization = math.log(2 / (4 * math.pi * math.sinh(2)))
    assert constraint.item() == pytest.approx(-log_normalization - (2 + 0) / 2, rel=1e-12)


def test_mean_direction_constraint_by_hand():
    # The mean of (1, 0) and (0, 1) is (1/2, 1/2), at a distance of 1 - 1/2 from either.
    constraint = mean_direction_constraint(torch.eye(2, dtype=torch.float64))
    assert constraint.item() == pytest.approx(-0.5, rel=1e-12)
    # Equal directions are at distance 0, opposite ones at distance 1 from their mean, zero.
    assert mean_direction_constraint(torch.stack([tensor(0.6, 0.8)] * 3)).item() == pytest.approx(
        0, abs=1e-12
    )
    opposite = torch.stack([tensor(0.6, 0.8), tensor(-0.6, -0.8)])
    assert mean_direction_constraint(opposite).item() == pytest.approx(-1, rel=1e-12)


def test_mean_direction_constraint_with_a_mean_of_length_one():
    # The normalized mean of (1, 0) and (0, 1) has a cosine of 1 / sqrt(2) with either.
    constraint = mean_direction_constraint(torch.eye(2, dtype=torch.float64), normalize=True)
    assert constraint.item() == pytest.approx(math.sqrt(1 / 2) - 1, rel=1e-12)


def test_uncertainty_weighting_by_hand():
    weighting = UncertaintyWeighting(3).double()
    losses = [tensor(2.0).squeeze(), tensor(3.0).squeeze(), tensor(-5.0).squeeze()]
    # Initially sigma = 1, which gives the plain sum.
    assert weighting(losses).item() == pytest.approx(0, abs=1e-12)
    with torch.no_grad():
        weighting.log_variances.copy_(tensor(math.log(4), 0.0, math.log(0.25)))
    # 2/4 + 3/1 - 5/0.25 + log 2 + log 1 + log 0.5
    assert weighting(losses).item() == pytest.approx(0.5 + 3 - 20, rel=1e-12)
    weighting(losses).backward()
    # d/ds (exp(-s) R + s/2) = -exp(-s) R + 1/2
    torch.testing.assert_close(weighting.log_variances.grad, tensor(0.0, -2.5, 20.5))


def test_weighting_of_no_losses():
    with pytest.raises(ValueError, match="num_losses must be at least 1, got 0"):
        UncertaintyWeighting(0)
