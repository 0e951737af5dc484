"""The approximate posteriors; `tests/models` compares them with the thesis's equations."""

import pytest
import torch

from allennlp_sentmatch.nn import GaussianInferenceNetwork, VonMisesFisherInferenceNetwork


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


def test_gaussian_under_autocast():
    """The divergence of its own mean and variance, not rounded to bfloat16's three digits."""
    network = GaussianInferenceNetwork(4, 50, kl_annealing_rate=1.0)
    network.advance()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        posterior = network(torch.randn(3, 4))
        divergence = network.kl_divergence(posterior)
    mean = posterior.mean.double()
    variance = posterior.variance.double()
    expected = (variance + mean**2 - 1 - variance.log()).sum(-1) / 2
    torch.testing.assert_close(divergence.double(), expected, rtol=1e-5, atol=0)


@pytest.mark.parametrize(
    ("network", "settings", "message"),
    [
        (
            GaussianInferenceNetwork,
            {"kl_annealing_rate": -1},
            "^kl_annealing_rate must be a number above 0",
        ),
        (
            VonMisesFisherInferenceNetwork,
            {"concentration": 0},
            "^concentration must be a number above 0",
        ),
        (
            VonMisesFisherInferenceNetwork,
            {"latent_size": 1},
            "latent_size must be an integer of at least 2",
        ),
    ],
)
def test_impossible_settings_are_named(network, settings, message):
    with pytest.raises(ValueError, match=message):
        network(2, **({"latent_size": 3} | settings))
