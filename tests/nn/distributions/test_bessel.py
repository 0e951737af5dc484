import math

import pytest
import torch
from scipy import special
from torch.autograd import gradcheck, gradgradcheck

from allennlp_sentmatch.nn.distributions.bessel import log_normalizer, mean_resultant_length


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
    k = torch.tensor([concentration], dtype=torch.float64)
    expected = (
        math.log(below)
        + concentration
        + math.lgamma(order + 1)
        - order * math.log(concentration / 2)
    )
    assert mean_resultant_length(dim, k).item() == pytest.approx(above / below, rel=1e-12, abs=0)
    # SciPy's way subtracts large numbers where F is small.
    assert log_normalizer(dim, k).item() == pytest.approx(expected, rel=1e-12, abs=1e-11)


@pytest.mark.parametrize("dim", [2, 3, 62, 300, 1000])
@pytest.mark.parametrize("concentration", [0.1, 1.0, 10.0, 100.0])
def test_agree_with_the_power_series(dim, concentration):
    k = torch.tensor([concentration], dtype=torch.float64)
    series = power_series(dim / 2, concentration)
    ratio = concentration / dim * (1 + power_series(dim / 2 + 1, concentration)) / (1 + series)
    assert mean_resultant_length(dim, k).item() == pytest.approx(ratio, rel=1e-12, abs=0)
    # F is near 1e-6 for the smallest concentrations: 1e-9 is all of float64's 16 digits there.
    assert log_normalizer(dim, k).item() == pytest.approx(math.log1p(series), rel=1e-9, abs=0)


@pytest.mark.parametrize("dim", [2, 5, 70])
def test_gradients(dim):
    k = torch.tensor([0.3, 4.0, 90.0], dtype=torch.float64, requires_grad=True)
    for function in (mean_resultant_length, log_normalizer):
        assert gradcheck(lambda x, f=function: f(dim, x), k)
        assert gradgradcheck(lambda x, f=function: f(dim, x), k)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_lower_precisions_are_the_rounded_double(dtype):
    k = torch.tensor([0.5, 20.0, 3000.0], dtype=dtype)
    for function in (mean_resultant_length, log_normalizer):
        value = function(300, k)
        assert value.dtype == dtype
        assert torch.equal(value, function(300, k.double()).to(dtype))
