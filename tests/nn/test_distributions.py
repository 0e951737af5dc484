"""The von Mises-Fisher distribution agrees with scipy and with numerical integration."""

import math

import numpy
import pytest
import torch
import torch.nn.functional as F
from scipy import stats
from scipy.integrate import trapezoid
from torch.autograd import gradcheck
from torch.distributions import kl_divergence

from allennlp_sentmatch.nn.distributions import HypersphericalUniform, VonMisesFisher

DIMS = [2, 3, 300]
AREAS = {2: 2 * math.pi, 3: 4 * math.pi, 4: 2 * math.pi**2, 6: math.pi**3}
CONCENTRATIONS = [0.1, 50.0, 10000.0]


def unit(dim, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return F.normalize(torch.randn(dim, dtype=torch.float64, generator=generator), dim=-1).to(dtype)


def von_mises_fisher(dim, concentration, dtype=torch.float64):
    return VonMisesFisher(unit(dim, dtype=dtype), torch.tensor([concentration], dtype=dtype))


def angle_density(dim, concentration, num_points=100_001):
    """A grid of angles between x and mu, and their density, sin^{m-2}(a) exp(k cos a) / Z."""
    angles = numpy.linspace(0, math.pi, num_points)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        log_density = concentration * numpy.cos(angles)
        if dim > 2:
            log_density = log_density + (dim - 2) * numpy.log(numpy.sin(angles))
    density = numpy.nan_to_num(numpy.exp(log_density - numpy.nanmax(log_density)))
    return angles, density / trapezoid(density, angles)


@pytest.mark.parametrize("dim", [2, 3, 12])
@pytest.mark.parametrize("concentration", [0.1, 10.0, 300.0])
def test_log_prob_agrees_with_scipy(dim, concentration):
    points = torch.stack([unit(dim, seed) for seed in range(5)])
    actual = von_mises_fisher(dim, concentration).log_prob(points)
    expected = stats.vonmises_fisher(unit(dim).numpy(), concentration).logpdf(points.numpy())
    numpy.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dim", [2, 3, 100])
@pytest.mark.parametrize("concentration", [0.5, 20.0, 500.0])
def test_moments_entropy_and_divergence_agree_with_numerical_integration(dim, concentration):
    angles, density = angle_density(dim, concentration)
    cosine = numpy.cos(angles)
    mean = trapezoid(density * cosine, angles)
    variance = trapezoid(density * (cosine - mean) ** 2, angles)
    distribution = von_mises_fisher(dim, concentration)
    loc = distribution.loc
    assert (distribution.mean @ loc).item() == pytest.approx(mean, rel=1e-7)
    # Along mu the variance is the cosine's; the others share the rest of E|x|^2 = 1.
    across = (1 - mean**2 - variance) / (dim - 1)
    expected = across + (variance - across) * loc**2
    numpy.testing.assert_allclose(distribution.variance, expected, rtol=1e-5)
    # Against the uniform distribution the density depends on the angle alone:
    # E[log(exp(k cos) / Z_k) - log(1 / Z_0)] with Z_k the integral of sin^{m-2} exp(k cos).
    uniform = angle_density(dim, 0.0)[1]
    ratio = trapezoid(uniform * numpy.exp(concentration * (cosine - 1)), angles)
    divergence = concentration * (mean - 1) - math.log(ratio)
    prior = HypersphericalUniform(dim, dtype=torch.float64)
    assert kl_divergence(distribution, prior).item() == pytest.approx(divergence, rel=1e-6)
    assert (prior.entropy() - distribution.entropy()).item() == pytest.approx(divergence, rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("concentration", CONCENTRATIONS)
def test_samples_have_the_right_angles(dim, concentration, dtype):
    torch.manual_seed(0)
    distribution = von_mises_fisher(dim, concentration, dtype)
    samples = distribution.sample((4000,))
    assert samples.dtype == dtype
    chord = (samples - distribution.loc).norm(dim=-1).double() / 2
    angles, density = angle_density(dim, concentration)
    cdf = numpy.concatenate([[0], numpy.cumsum((density[1:] + density[:-1]) / 2)])
    sampled = 2 * torch.asin(chord.clamp(max=1)).numpy()
    result = stats.kstest(sampled, lambda x: numpy.interp(x, angles, cdf / cdf[-1]))
    assert result.pvalue > 1e-4


@pytest.mark.parametrize("loc", [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [-0.6, 0.0, 0.8]])
def test_samples_are_symmetric_about_the_mean_direction(loc):
    torch.manual_seed(1)
    loc = torch.tensor(loc, dtype=torch.float64)
    samples = VonMisesFisher(loc, torch.tensor([5.0], dtype=torch.float64)).sample((4000,))
    # Two directions that span the plane orthogonal to loc.
    first = torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64)
    second = torch.linalg.cross(loc, first)
    azimuth = torch.atan2(samples @ first, samples @ second).numpy()
    counts, _ = numpy.histogram(azimuth, bins=20, range=(-math.pi, math.pi))
    assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("dim", [2, 3, 8])
@pytest.mark.parametrize("concentration", [0.2, 5.0, 200.0])
def test_gradcheck_of_the_reparameterized_sample(dim, concentration):
    def sample(direction, concentration):
        torch.manual_seed(3)  # with equal noise, only the parameters change the sample
        return VonMisesFisher(F.normalize(direction, dim=-1), concentration).rsample((2,))

    direction = torch.stack([unit(dim, seed) for seed in range(3)]).requires_grad_()
    concentration = torch.full((3, 1), concentration, dtype=torch.float64, requires_grad=True)
    assert gradcheck(sample, (direction, concentration))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("concentration", CONCENTRATIONS)
def test_everything_is_finite_and_precise(dim, concentration, dtype):
    torch.manual_seed(5)
    loc = unit(dim, dtype=dtype).requires_grad_()
    kappa = torch.tensor([concentration], dtype=dtype, requires_grad=True)
    distribution = VonMisesFisher(loc, kappa)
    samples = distribution.rsample((7,))
    precision = torch.finfo(dtype).eps
    assert (samples.norm(dim=-1) - 1).abs().max() < 50 * precision
    log_prob = distribution.log_prob(samples.detach())
    divergence = kl_divergence(distribution, HypersphericalUniform(dim))
    exact = VonMisesFisher(loc.detach().double(), kappa.detach().double(), validate_args=False)
    exact_divergence = kl_divergence(exact, HypersphericalUniform(dim))
    assert divergence.item() == pytest.approx(exact_divergence.item(), rel=8 * precision)
    # The log-density is a difference of terms as large as kappa and m.
    error = (log_prob.double() - exact.log_prob(samples.detach().double())).abs().max()
    assert error < 50 * precision * (concentration + dim)
    total = samples.sum() + log_prob.sum() + divergence + distribution.entropy()
    for gradient in torch.autograd.grad(total, (loc, kappa)):
        assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("concentration", [math.nan, math.inf])
def test_sampling_ends(concentration):
    """Near infinity, the distribution is concentrated at `loc`; NaN, as in a diverged model, stays
    NaN.
    """
    sample = VonMisesFisher(unit(3), torch.tensor([concentration]), False).sample((9,))
    expected = unit(3) if concentration > 0 else torch.full((3,), math.nan).double()
    torch.testing.assert_close(sample, expected.expand(9, 3), equal_nan=True)


def test_samples_close_to_the_mean_direction_are_precise_in_single_precision():
    """For such kappa, 1 - w^2 is about (m - 1) / kappa, below the rounding error of w."""
    torch.manual_seed(6)
    loc = torch.tensor([1.0, 0.0, 0.0])
    samples = VonMisesFisher(loc, torch.tensor([1e8])).rsample((10_000,))
    assert samples[:, 1:].square().sum(-1).mean().item() == pytest.approx(2e-8, rel=0.05)


def test_shapes():
    loc = torch.stack([unit(3, seed) for seed in range(4)])
    several = VonMisesFisher(loc, torch.tensor([2.0], dtype=torch.float64))
    uniform = HypersphericalUniform(3, dtype=torch.float64)
    for distribution, batch_shape in ((several, (4,)), (uniform, ())):
        assert (distribution.batch_shape, distribution.event_shape) == (batch_shape, (3,))
        samples = distribution.rsample((5, 2))
        assert samples.shape == (5, 2, *batch_shape, 3)
        assert distribution.log_prob(samples).shape == (5, 2, *batch_shape)
        assert distribution.mean.shape == distribution.variance.shape == (*batch_shape, 3)
        assert distribution.entropy().shape == batch_shape
    many = VonMisesFisher(loc[0], torch.rand(6, 1, dtype=torch.float64) + 1)
    assert many.rsample().shape == many.mode.shape == (6, 3)
    assert HypersphericalUniform(5).sample().dtype == torch.get_default_dtype()


@pytest.mark.parametrize("dim", AREAS)
def test_uniform_density_is_one_over_the_area(dim):
    distribution = HypersphericalUniform(dim, dtype=torch.float64)
    points = distribution.sample((5, 2))
    expected = torch.full((5, 2), -math.log(AREAS[dim]), dtype=torch.float64)
    torch.testing.assert_close(distribution.log_prob(points), expected, rtol=1e-12, atol=1e-12)
    assert distribution.entropy().item() == pytest.approx(math.log(AREAS[dim]), rel=1e-12)


@pytest.mark.parametrize("dim", [2, 3, 50])
def test_uniform_samples(dim):
    torch.manual_seed(0)
    distribution = HypersphericalUniform(dim, dtype=torch.float64)
    samples = distribution.rsample((4000,))
    torch.testing.assert_close(samples.norm(dim=-1), torch.ones(4000, dtype=torch.float64))
    # A coordinate t of a uniform point has (1 + t) / 2 ~ Beta((m - 1) / 2, (m - 1) / 2).
    beta = stats.beta((dim - 1) / 2, (dim - 1) / 2)
    for coordinate in (0, dim - 1):
        assert stats.kstest((1 + samples[:, coordinate].numpy()) / 2, beta.cdf).pvalue > 1e-4
    assert (samples.mean(0) - distribution.mean).abs().max() < 5 / (dim * 4000) ** 0.5
    torch.testing.assert_close(samples.var(0), distribution.variance, rtol=0.15, atol=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: HypersphericalUniform(1), "dim must be an integer of at least 2; got 1"),
        (lambda: HypersphericalUniform(3, validate_args=True).log_prob(torch.ones(3)), "support"),
        (lambda: VonMisesFisher(torch.ones(1), torch.ones(1)), r"loc has shape \(1,\)"),
        (lambda: VonMisesFisher(torch.tensor(1.0), torch.ones(1)), r"loc has shape \(\)"),
        (lambda: VonMisesFisher(unit(3), torch.ones(4)), r"concentration has shape \(4,\)"),
        (lambda: VonMisesFisher(torch.ones(3), torch.ones(1), validate_args=True), "loc"),
        (lambda: VonMisesFisher(unit(3), torch.zeros(1), validate_args=True), "concentration"),
        (lambda: VonMisesFisher(unit(3), torch.ones(1), True).log_prob(torch.ones(3)), "support"),
        (lambda: kl_divergence(von_mises_fisher(3, 1.0), HypersphericalUniform(4)), "3 and 4 dim"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
