import math

import pytest
import torch
from scipy import special

from allennlp_sentmatch.nn.bessel import log_normalizer_and_ratio


def at(dim, concentration):
    k = torch.tensor([concentration], dtype=torch.float64)
    return [x.item() for x in log_normalizer_and_ratio(dim, k)]


def power_series(half_dim, concentration):
    """0F1(; m/2; k^2/4) - 1, whose terms are all positive."""
    term, total, i = 1.0, 0.0, 0
    while term > 1e-20 * (1 + total):
        i += 1
        term *= concentration**2 / 4 / (i * (half_dim + i - 1))
        total += term
    return total


@pytest.mark.parametrize("dim", [2, 3, 4, 7, 61, 62, 63, 64, 100, 301])
@pytest.mark.parametrize("concentration", [0.1, 1.0, 7.0, 30.0, 100.0, 1000.0, 10000.0])
def test_agree_with_scipy(dim, concentration):
    order = dim / 2 - 1
    below, above = special.ive(order, concentration), special.ive(order + 1, concentration)
    if above < 1e-250:
        pytest.skip("SciPy's Bessel functions underflow here")
    log_normalizer, ratio = at(dim, concentration)
    expected = (
        math.log(below)
        + concentration
        + math.lgamma(order + 1)
        - order * math.log(concentration / 2)
    )
    assert ratio == pytest.approx(above / below, rel=1e-12, abs=0)
    # SciPy's way subtracts large numbers where F is small.
    assert log_normalizer == pytest.approx(expected, rel=1e-12, abs=1e-11)


@pytest.mark.parametrize("dim", [2, 3, 62, 300, 1000])
@pytest.mark.parametrize("concentration", [1e-4, 0.1, 1.0, 10.0, 100.0])
def test_agree_with_the_power_series(dim, concentration):
    log_normalizer, ratio = at(dim, concentration)
    series = power_series(dim / 2, concentration)
    expected = concentration / dim * (1 + power_series(dim / 2 + 1, concentration)) / (1 + series)
    assert ratio == pytest.approx(expected, rel=1e-12, abs=0)
    assert log_normalizer == pytest.approx(math.log1p(series), rel=1e-12, abs=0)


@pytest.mark.parametrize("dim", [2, 5, 70])
def test_gradients(dim):
    k = torch.tensor([0.3, 4.0, 90.0, 1e5], dtype=torch.float64, requires_grad=True)
    log_normalizer, ratio = log_normalizer_and_ratio(dim, k)
    (slope,) = torch.autograd.grad(log_normalizer.sum(), k, create_graph=True)
    torch.testing.assert_close(slope, ratio, rtol=1e-14, atol=0)  # F' = A
    for result in (slope, ratio):
        (curvature,) = torch.autograd.grad(result.sum(), k, retain_graph=True)
        expected = 1 - ratio**2 - (dim - 1) * ratio / k  # Riccati
        torch.testing.assert_close(curvature, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_lower_precisions_are_the_rounded_double(dtype):
    k = torch.tensor([0.5, 20.0, 3000.0], dtype=dtype)
    for low, exact in zip(
        log_normalizer_and_ratio(300, k), log_normalizer_and_ratio(300, k.double())
    ):
        assert low.dtype == dtype
        assert torch.equal(low, exact.to(dtype))
