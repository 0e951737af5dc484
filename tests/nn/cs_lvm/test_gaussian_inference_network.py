import math

import pytest
import torch

from allennlp_sentmatch.nn.cs_lvm import GaussianInferenceNetwork


def test_gaussian_divergence_by_hand():
    posterior = GaussianInferenceNetwork(1, 2, kl_annealing_rate=0.25).double()
    with torch.no_grad():
        posterior.mean_projection.weight.copy_(torch.tensor([[1.0], [-2.0]]))
        posterior.mean_projection.bias.zero_()
        posterior.log_variance_projection.weight.zero_()
        posterior.log_variance_projection.bias.copy_(
            torch.tensor([0.0, math.log(4)], dtype=torch.float64)
        )
    distribution = posterior(torch.tensor([[3.0]], dtype=torch.float64))
    torch.testing.assert_close(distribution.mode, torch.tensor([[3.0, -6.0]]).double())
    torch.testing.assert_close(distribution.stddev, torch.tensor([[1.0, 2.0]]).double())
    # Sum of (variance + mean^2 - 1 - log variance) / 2, weighted by 0, 1/4, .. 1, 1
    divergence = (1 + 9 - 1 - 0) / 2 + (4 + 36 - 1 - math.log(4)) / 2
    for weight in (0, 0.25, 0.5, 0.75, 1, 1):
        value = posterior.kl_divergence(distribution)
        assert value.tolist() == pytest.approx([weight * divergence], rel=1e-12)
        posterior.advance()


def test_bad_rate():
    with pytest.raises(ValueError, match="rate is -1"):
        GaussianInferenceNetwork(2, 3, kl_annealing_rate=-1)


@pytest.mark.parametrize("sizes", [(0, 2), (3, 0)])
def test_sizes_must_be_positive(sizes: tuple[int, int]):
    with pytest.raises(ValueError, match="_size must be at least 1, got 0"):
        GaussianInferenceNetwork(*sizes)
