import math

import pytest
import torch

from allennlp_sentmatch.nn.cs_lvm import VonMisesFisherInferenceNetwork


def test_von_mises_fisher_mean_direction_by_hand():
    posterior = VonMisesFisherInferenceNetwork(2, 3, concentration=7.0).double()
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
    posterior = VonMisesFisherInferenceNetwork(2, 3, concentration=7.0)
    assert "concentration" in posterior.state_dict()
    assert "concentration" not in dict(posterior.named_parameters())
    other = VonMisesFisherInferenceNetwork(2, 3)
    other.load_state_dict(posterior.state_dict())
    assert other.concentration.item() == 7.0


def test_von_mises_fisher_under_autocast():
    posterior = VonMisesFisherInferenceNetwork(4, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        sample = posterior(torch.randn(3, 4)).rsample()
    assert sample.dtype == torch.float32
    torch.testing.assert_close(sample.norm(dim=-1), torch.ones(3))


def test_bad_concentration():
    with pytest.raises(ValueError, match="concentration is 0"):
        VonMisesFisherInferenceNetwork(2, 3, concentration=0)


def test_a_sphere_needs_two_dimensions():
    VonMisesFisherInferenceNetwork(1, 2)
    with pytest.raises(ValueError, match=r"latent_size must be at least 2, .* got 1"):
        VonMisesFisherInferenceNetwork(3, 1)
    with pytest.raises(ValueError, match="input_size must be at least 1, got 0"):
        VonMisesFisherInferenceNetwork(0, 2)
