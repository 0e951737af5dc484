"""The Bessel functions of the von Mises-Fisher distribution against their power series."""

from decimal import Decimal

import pytest
import torch

from allennlp_sentmatch.nn.bessel import log_normalizer_and_ratio


def power_series(half_dim, concentration):
    """0F1(; m/2; k^2/4), whose terms are all positive, in 28 digits and without an overflow."""
    half_dim = Decimal(half_dim)
    quarter = Decimal(concentration) ** 2 / 4
    term = Decimal(1)
    total = Decimal(1)
    i = 0
    while term > total * Decimal("1e-25"):
        term *= quarter / ((i + 1) * (half_dim + i))
        total = total + term
        i = i + 1
    return total


@pytest.mark.parametrize("dim", [2, 3, 4, 7, 61, 62, 63, 64, 301, 1000])
@pytest.mark.parametrize("concentration", [1e-4, 0.1, 1.0, 7.0, 30.0, 100.0, 1000.0, 10000.0])
def test_agree_with_the_power_series(dim, concentration):
    k = torch.tensor([concentration], dtype=torch.float64)
    log_normalizer, ratio = (x.item() for x in log_normalizer_and_ratio(dim, k))
    series, next_one = (power_series(dim / 2 + n, concentration) for n in (0, 1))
    assert log_normalizer == pytest.approx(float(series.ln()), rel=1e-12, abs=0)
    expected = Decimal(concentration) / dim * next_one / series
    assert ratio == pytest.approx(float(expected), rel=1e-12, abs=0)


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
