"""The von Mises-Fisher distribution agrees with scipy and with numerical integration."""

import math

import numpy
import pytest
import torch
import torch.nn.functional as F
from scipy import stats
from scipy.integrate import cumulative_trapezoid, trapezoid
from torch.autograd import gradcheck
from torch.distributions import kl_divergence

from allennlp_sentmatch.nn.distributions import HypersphericalUniform, VonMisesFisher

DIMS = [2, 3, 300]
CONCENTRATIONS = [0.1, 50.0, 10000.0]


DOUBLE = torch.float64


UNIFORM_AREAS = {
    2: 2 * math.pi,
    3: 4 * math.pi,
    4: 2 * math.pi**2,
    6: math.pi**3,
}
"""The areas of the unit spheres of some dimensions."""


def unit(dim, seed=0, dtype=DOUBLE):
    """Return a random unit vector."""
    generator = torch.Generator().manual_seed(seed)
    direction = torch.randn(dim, dtype=DOUBLE, generator=generator)
    return F.normalize(direction, dim=-1).to(dtype)


def units(dim, number):
    return torch.stack([unit(dim, seed) for seed in range(number)])


def von_mises_fisher(dim, concentration, dtype=DOUBLE):
    loc = unit(dim, dtype=dtype)
    return VonMisesFisher(loc, torch.tensor([concentration], dtype=dtype))


def uniform_on_sphere(dim):
    return HypersphericalUniform(dim, dtype=DOUBLE)


def angle_density(dim, concentration, num_points=100_001):
    """Return angles between x and mu, and their density, sin^{m-2}(a) exp(k cos a) / Z."""
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
    points = units(dim, 5)
    actual = von_mises_fisher(dim, concentration).log_prob(points)
    reference = stats.vonmises_fisher(unit(dim).numpy(), concentration)
    expected = reference.logpdf(points.numpy())
    numpy.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10)


def moments_of_cosine(dim, concentration):
    """Return the mean and the variance of the cosine between x and mu, by integration."""
    angles, density = angle_density(dim, concentration)
    cosine = numpy.cos(angles)
    mean = trapezoid(density * cosine, angles)
    variance = trapezoid(density * (cosine - mean) ** 2, angles)
    return mean, variance


several_dims = pytest.mark.parametrize("dim", [2, 3, 100])


several_concentrations = pytest.mark.parametrize("concentration", [0.5, 20.0, 500.0])


@several_dims
@several_concentrations
def test_moments_agree_with_numerical_integration(dim, concentration):
    mean, variance = moments_of_cosine(dim, concentration)
    distribution = von_mises_fisher(dim, concentration)
    loc = distribution.loc
    assert (distribution.mean @ loc).item() == pytest.approx(mean, rel=1e-7)
    # Along mu the variance is the cosine's; the others share the rest of E|x|^2 = 1.
    across = (1 - mean**2 - variance) / (dim - 1)
    expected = across + (variance - across) * loc**2
    numpy.testing.assert_allclose(distribution.variance, expected, rtol=1e-5)


@several_dims
@several_concentrations
def test_entropy_and_divergence_agree_with_numerical_integration(dim, concentration):
    """Against the uniform distribution, the density depends only on the angle.

    E[log(exp(k cos) / Z_k) - log(1 / Z_0)] with Z_k the integral of sin^{m-2} exp(k cos).
    """
    mean, _ = moments_of_cosine(dim, concentration)
    angles, uniform_density = angle_density(dim, 0.0)
    exponential = numpy.exp(concentration * (numpy.cos(angles) - 1))
    ratio = trapezoid(uniform_density * exponential, angles)
    expected = concentration * (mean - 1) - math.log(ratio)
    distribution = von_mises_fisher(dim, concentration)
    prior = uniform_on_sphere(dim)
    divergence = kl_divergence(distribution, prior)
    assert divergence.item() == pytest.approx(expected, rel=1e-6)
    difference = prior.entropy() - distribution.entropy()
    assert difference.item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, DOUBLE])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("concentration", CONCENTRATIONS)
def test_samples_have_the_right_angles(dim, concentration, dtype):
    torch.manual_seed(0)
    distribution = von_mises_fisher(dim, concentration, dtype)
    samples = distribution.sample((4000,))
    assert samples.dtype == dtype
    half_chord = (samples - distribution.loc).norm(dim=-1).double() / 2
    sampled_angles = 2 * torch.asin(half_chord.clamp(max=1)).numpy()
    angles, density = angle_density(dim, concentration)
    cumulative = cumulative_trapezoid(density, angles, initial=0)
    cumulative /= cumulative[-1]
    result = stats.kstest(sampled_angles, lambda x: numpy.interp(x, angles, cumulative))
    assert result.pvalue > 1e-4


@pytest.mark.parametrize(
    "loc",
    [
        [1.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
        [-0.6, 0.0, 0.8],
    ],
)
def test_samples_are_symmetric_about_the_mean_direction(loc):
    torch.manual_seed(1)
    loc = torch.tensor(loc, dtype=DOUBLE)
    samples = VonMisesFisher(loc, torch.tensor([5.0], dtype=DOUBLE)).sample((4000,))
    # Two directions that span the plane orthogonal to loc.
    first = torch.tensor([0.0, 1.0, 0.0], dtype=DOUBLE)
    second = torch.linalg.cross(loc, first)
    azimuth = torch.atan2(samples @ first, samples @ second).numpy()
    counts, _ = numpy.histogram(azimuth, bins=20, range=(-math.pi, math.pi))
    assert stats.chisquare(counts).pvalue > 1e-4


def sample_with_equal_noise(direction, concentration):
    """Return a sample that only the parameters change."""
    torch.manual_seed(3)
    return VonMisesFisher(F.normalize(direction, dim=-1), concentration).rsample((2,))


@pytest.mark.parametrize("dim", [2, 3, 8])
@pytest.mark.parametrize("concentration", [0.2, 5.0, 200.0])
def test_gradcheck_of_the_reparameterized_sample(dim, concentration):
    direction = units(dim, 3).requires_grad_()
    concentration = torch.full((3, 1), concentration, dtype=DOUBLE, requires_grad=True)
    assert gradcheck(sample_with_equal_noise, (direction, concentration))


@pytest.mark.parametrize("dtype", [torch.float32, DOUBLE])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("concentration", CONCENTRATIONS)
def test_everything_is_precise(dim, concentration, dtype):
    torch.manual_seed(5)
    precision = torch.finfo(dtype).eps
    distribution = von_mises_fisher(dim, concentration, dtype)
    samples = distribution.rsample((7,))
    assert (samples.norm(dim=-1) - 1).abs().max() < 50 * precision
    loc = distribution.loc.double()
    exact = VonMisesFisher(loc, distribution.concentration.double(), validate_args=False)
    prior = HypersphericalUniform(dim)
    divergence = kl_divergence(distribution, prior).item()
    expected = kl_divergence(exact, prior).item()
    assert divergence == pytest.approx(expected, rel=8 * precision)
    # The log-density is a difference of terms as large as kappa and m.
    errors = distribution.log_prob(samples).double() - exact.log_prob(samples.double())
    assert errors.abs().max() < 50 * precision * (concentration + dim)


@pytest.mark.parametrize("dtype", [torch.float32, DOUBLE])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("concentration", CONCENTRATIONS)
def test_gradients_are_finite(dim, concentration, dtype):
    torch.manual_seed(5)
    loc = unit(dim, dtype=dtype).requires_grad_()
    kappa = torch.tensor([concentration], dtype=dtype, requires_grad=True)
    distribution = VonMisesFisher(loc, kappa)
    samples = distribution.rsample((7,))
    log_prob = distribution.log_prob(samples.detach())
    divergence = kl_divergence(distribution, HypersphericalUniform(dim))
    total = samples.sum() + log_prob.sum() + divergence + distribution.entropy()
    for gradient in torch.autograd.grad(total, (loc, kappa)):
        assert torch.isfinite(gradient).all()


def test_samples_near_infinite_concentration_are_the_mean_direction():
    distribution = VonMisesFisher(unit(3), torch.tensor([math.inf]), False)
    torch.testing.assert_close(distribution.sample((9,)), unit(3).expand(9, 3))


def test_samples_of_a_diverged_model_are_nan():
    distribution = VonMisesFisher(unit(3), torch.tensor([math.nan]), False)
    samples = distribution.sample((9,))
    assert samples.shape == (9, 3)
    assert samples.isnan().all()


def test_samples_close_to_the_mean_direction_are_precise_in_single_precision():
    """For such kappa, 1 - w^2 is about (m - 1) / kappa, below the rounding error of w."""
    torch.manual_seed(6)
    loc = torch.tensor([1.0, 0.0, 0.0])
    samples = VonMisesFisher(loc, torch.tensor([1e8])).rsample((10_000,))
    squared_distances = samples[:, 1:].square().sum(-1)
    assert squared_distances.mean().item() == pytest.approx(2e-8, rel=0.05)


@pytest.mark.parametrize(
    ("distribution", "batch_shape"),
    [
        (VonMisesFisher(units(3, 4), torch.tensor([2.0], dtype=DOUBLE)), (4,)),
        (uniform_on_sphere(3), ()),
    ],
    ids=["von Mises-Fisher", "uniform"],
)
def test_shapes(distribution, batch_shape):
    assert distribution.batch_shape == batch_shape
    assert distribution.event_shape == (3,)
    samples = distribution.rsample((5, 2))
    assert samples.shape == (5, 2, *batch_shape, 3)
    assert distribution.log_prob(samples).shape == (5, 2, *batch_shape)
    assert distribution.mean.shape == (*batch_shape, 3)
    assert distribution.variance.shape == (*batch_shape, 3)
    assert distribution.entropy().shape == batch_shape


@pytest.mark.parametrize("concentration", [1e2, 1e4, 1e5])
def test_variance_of_concentrated_vectors_in_single_precision(concentration):
    """With m = 3, A = coth k - 1 / k and A' = 1 / k^2 - 1 / sinh^2 k, where coth is 1 here."""
    axis = torch.tensor([0.0, 1.0, 0.0])
    distribution = VonMisesFisher(axis, torch.tensor([concentration]))
    along = 1 / concentration**2
    across = 1 / concentration - along
    expected = torch.tensor([across, along, across])
    torch.testing.assert_close(distribution.variance, expected, rtol=1e-5, atol=0)


@pytest.mark.parametrize("dim", [2, 5])
def test_no_variance_is_below_zero(dim):
    distribution = VonMisesFisher(torch.eye(dim, dtype=DOUBLE)[0], torch.tensor([1e8]).double())
    assert (distribution.variance >= 0).all()


def test_one_mean_direction_with_many_concentrations():
    concentrations = torch.rand(6, 1, dtype=DOUBLE) + 1
    distribution = VonMisesFisher(unit(3), concentrations)
    assert distribution.rsample().shape == (6, 3)
    assert distribution.mode.shape == (6, 3)


def test_uniform_samples_have_the_default_type():
    assert HypersphericalUniform(5).sample().dtype == torch.get_default_dtype()


@pytest.mark.parametrize(("dim", "area"), UNIFORM_AREAS.items())
def test_uniform_density_is_one_over_the_area(dim, area):
    distribution = uniform_on_sphere(dim)
    log_probs = distribution.log_prob(distribution.sample((5, 2)))
    assert log_probs.shape == (5, 2)
    numpy.testing.assert_allclose(log_probs, -math.log(area), rtol=1e-12, atol=1e-12)
    assert distribution.entropy().item() == pytest.approx(math.log(area), rel=1e-12)


@pytest.mark.parametrize("dim", [2, 3, 50])
def test_uniform_samples(dim):
    torch.manual_seed(0)
    distribution = uniform_on_sphere(dim)
    samples = distribution.rsample((4000,))
    torch.testing.assert_close(samples.norm(dim=-1), torch.ones(4000, dtype=DOUBLE))
    # A coordinate t of a uniform point has (1 + t) / 2 ~ Beta((m - 1) / 2, (m - 1) / 2).
    beta = stats.beta((dim - 1) / 2, (dim - 1) / 2)
    for coordinate in (0, dim - 1):
        values = (1 + samples[:, coordinate].numpy()) / 2
        assert stats.kstest(values, beta.cdf).pvalue > 1e-4
    errors = samples.mean(0) - distribution.mean
    assert errors.abs().max() < 5 / (dim * 4000) ** 0.5
    torch.testing.assert_close(samples.var(0), distribution.variance, rtol=0.15, atol=0)


ONES = torch.ones(3)


@pytest.mark.parametrize(
    ("loc", "concentration", "message"),
    [
        (torch.ones(1), torch.ones(1), r"loc has shape \(1,\)"),
        (torch.tensor(1.0), torch.ones(1), r"loc has shape \(\)"),
        (unit(3), torch.ones(4), r"concentration has shape \(4,\)"),
    ],
)
def test_wrong_shapes(loc, concentration, message):
    with pytest.raises(ValueError, match=message):
        VonMisesFisher(loc, concentration)


@pytest.mark.parametrize(
    ("loc", "concentration", "message"),
    [
        (ONES, torch.ones(1), "loc"),
        (unit(3), torch.zeros(1), "concentration"),
    ],
)
def test_arguments_are_validated_if_requested(loc, concentration, message):
    with pytest.raises(ValueError, match=message):
        VonMisesFisher(loc, concentration, validate_args=True)


@pytest.mark.parametrize(
    "distribution",
    [
        HypersphericalUniform(3, validate_args=True),
        VonMisesFisher(unit(3), torch.ones(1), validate_args=True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_points_outside_the_sphere_are_refused_if_requested(distribution):
    with pytest.raises(ValueError, match="support"):
        distribution.log_prob(ONES)


def test_wrong_dimensions():
    with pytest.raises(ValueError, match="dim must be an integer of at least 2; got 1"):
        HypersphericalUniform(1)
    with pytest.raises(ValueError, match="3 and 4 dim"):
        kl_divergence(von_mises_fisher(3, 1.0), HypersphericalUniform(4))
