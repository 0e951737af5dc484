import math

import pytest
import torch
from scipy import stats

from allennlp_sentmatch.nn.distributions import HypersphericalUniform

AREAS = {2: 2 * math.pi, 3: 4 * math.pi, 4: 2 * math.pi**2, 6: math.pi**3}


@pytest.mark.parametrize("dim", AREAS)
def test_density_is_one_over_the_area(dim):
    distribution = HypersphericalUniform(dim, dtype=torch.float64)
    points = distribution.sample((5, 2))
    expected = torch.full((5, 2), -math.log(AREAS[dim]), dtype=torch.float64)
    torch.testing.assert_close(distribution.log_prob(points), expected, rtol=1e-12, atol=1e-12)
    assert distribution.entropy().item() == pytest.approx(math.log(AREAS[dim]), rel=1e-12)


@pytest.mark.parametrize("dim", [2, 3, 50])
def test_samples_are_uniform(dim):
    torch.manual_seed(0)
    samples = HypersphericalUniform(dim, dtype=torch.float64).rsample((4000,))
    torch.testing.assert_close(samples.norm(dim=-1), torch.ones(4000, dtype=torch.float64))
    # A coordinate t of a uniform point has (1 + t) / 2 ~ Beta((m - 1) / 2, (m - 1) / 2).
    beta = stats.beta((dim - 1) / 2, (dim - 1) / 2)
    for coordinate in (0, dim - 1):
        assert stats.kstest((1 + samples[:, coordinate].numpy()) / 2, beta.cdf).pvalue > 1e-4
    distribution = HypersphericalUniform(dim, dtype=torch.float64)
    assert (samples.mean(0) - distribution.mean).abs().max() < 5 / (dim * 4000) ** 0.5
    torch.testing.assert_close(samples.var(0), distribution.variance, rtol=0.15, atol=0)


def test_shapes_and_types():
    distribution = HypersphericalUniform(5, torch.Size([3]), dtype=torch.float64)
    assert distribution.sample((2,)).shape == (2, 3, 5)
    assert distribution.sample().dtype == torch.float64
    assert distribution.log_prob(distribution.sample((2,))).shape == (2, 3)
    assert distribution.expand(torch.Size([4])).entropy().shape == (4,)
    assert HypersphericalUniform(5).sample().dtype == torch.get_default_dtype()


def test_bad_arguments():
    with pytest.raises(ValueError, match="dim is 1"):
        HypersphericalUniform(1)
    with pytest.raises(ValueError, match="support"):
        HypersphericalUniform(3).log_prob(torch.ones(3))
