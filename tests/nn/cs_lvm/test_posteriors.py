import math

import pytest
import torch

from allennlp_sentmatch.nn.cs_lvm import GaussianPosterior, VonMisesFisherPosterior


def test_von_mises_fisher_mean_direction_by_hand():
    posterior = VonMisesFisherPosterior(2, 3, concentration=7.0).double()
    with torch.no_grad():
        posterior.projection.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
        posterior.projection.bias.copy_(torch.tensor([0.0, 0.0, 1.0]))
    # W m + b = (1, 2, 4) has the norm sqrt(21)
    distribution = posterior(torch.tensor([[1.0, 2.0]], dtype=torch.float64))
    expected = torch.tensor([[1.0, 2.0, 4.0]], dtype=torch.float64) / math.sqrt(21)
    torch.testing.assert_close(distribution.mode, expected)
    assert distribution.concentration.item() == 7.0
    # On the sphere: log(k / sinh k) + k coth k - 1
    divergence = math.log(7 / math.sinh(7)) + 7 / math.tanh(7) - 1
    assert posterior.kl_divergence(distribution).tolist() == pytest.approx([divergence], rel=1e-6)


def test_von_mises_fisher_keeps_its_concentration_in_checkpoints_only():
    posterior = VonMisesFisherPosterior(2, 3, concentration=7.0)
    assert "concentration" in posterior.state_dict()
    assert "concentration" not in dict(posterior.named_parameters())
    other = VonMisesFisherPosterior(2, 3)
    other.load_state_dict(posterior.state_dict())
    assert other.concentration.item() == 7.0


def test_von_mises_fisher_under_autocast():
    posterior = VonMisesFisherPosterior(4, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        sample = posterior(torch.randn(3, 4)).rsample()
    assert sample.dtype == torch.float32
    torch.testing.assert_close(sample.norm(dim=-1), torch.ones(3))


def test_gaussian_divergence_by_hand():
    posterior = GaussianPosterior(1, 2, kl_annealing_rate=0.25).double()
    with torch.no_grad():
        posterior.mean_projection.weight.copy_(torch.tensor([[1.0], [-2.0]]))
        posterior.mean_projection.bias.zero_()
        posterior.log_variance_projection.weight.zero_()
        posterior.log_variance_projection.bias.copy_(
            torch.tensor([0.0, math.log(4)], dtype=torch.float64)
        )
    distribution = posterior(torch.tensor([[3.0]], dtype=torch.float64))
    assert distribution.mode.tolist() == [[3.0, -6.0]]
    torch.testing.assert_close(distribution.stddev, torch.tensor([[1.0, 2.0]]).double())
    # Sum of (variance + mean^2 - 1 - log variance) / 2, weighted by 0, 1/4, .. 1, 1
    divergence = (1 + 9 - 1 - 0) / 2 + (4 + 36 - 1 - math.log(4)) / 2
    for weight in (0, 0.25, 0.5, 0.75, 1, 1):
        value = posterior.kl_divergence(distribution)
        assert value.tolist() == pytest.approx([weight * divergence], rel=1e-12)
        posterior.advance()


def test_bad_settings():
    with pytest.raises(ValueError, match="concentration is 0"):
        VonMisesFisherPosterior(2, 3, concentration=0)
    with pytest.raises(ValueError, match="rate is -1"):
        GaussianPosterior(2, 3, kl_annealing_rate=-1)
