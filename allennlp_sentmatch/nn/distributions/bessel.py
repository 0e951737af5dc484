"""The ratio and logarithm of modified Bessel functions for the von Mises-Fisher distribution.

On the sphere of R^m, with v = m/2 - 1 and k the concentration:

    A(k) = I_{v+1}(k) / I_v(k)                                    the mean resultant length
    F(k) = log 0F1(; m/2; k^2/4) = log(Gamma(v+1) (2/k)^v I_v(k))      the log-normalizer

F is the logarithm of E[exp(k t)] with t a coordinate of a uniform point on the sphere. Hence
F(0) = 0 and F' = A, and F neither overflows nor underflows where I_v does (I_499(0.1) is 1e-1760).

For an order n >= 30 both follow from the uniform asymptotic expansions DLMF 10.41.3 and 10.41.5,
which hold for every k. The recurrence I_{n-1} = I_{n+1} + (2n/k) I_n then goes down to v. It is
stable in this direction, and in the form

    A_{n-1} = 1 / (2n/k + A_n)      F_{n-1} = F_n + log(1 + k A_n / (2n))

it adds positive terms only. At least one step is taken, because the step also removes the
cancellation in 10.41.5 for k much smaller than n.
"""

import math
from fractions import Fraction
from typing import Any, Callable, cast

import torch

_LOWEST_EXPANDED_ORDER = 30
_NUM_TERMS = 10

_Apply = Callable[[int, torch.Tensor], torch.Tensor]
_Polynomial = dict[int, Fraction]  # power of p -> coefficient


def _add(polynomial: _Polynomial, power: int, coefficient: Fraction) -> None:
    polynomial[power] = polynomial.get(power, Fraction(0)) + coefficient


def _debye_polynomials() -> tuple[list[_Polynomial], list[_Polynomial]]:
    """Return the polynomials U_k(p) and V_k(p) of DLMF 10.41.9-10.41.11, k = 0 .. `_NUM_TERMS`."""
    u: list[_Polynomial] = [{0: Fraction(1)}]
    v: list[_Polynomial] = [{0: Fraction(1)}]
    for _ in range(_NUM_TERMS):
        next_u: _Polynomial = {}
        for power, c in u[-1].items():
            _add(next_u, power + 1, c * power / 2 + c / (8 * (power + 1)))
            _add(next_u, power + 3, -c * power / 2 - 5 * c / (8 * (power + 3)))
        next_v = dict(next_u)
        for power, c in u[-1].items():
            _add(next_v, power + 1, -c / 2 - c * power)
            _add(next_v, power + 3, c / 2 + c * power)
        u.append(next_u)
        v.append(next_v)
    return u, v


_U, _V = _debye_polynomials()


def _debye_sum(polynomials: list[_Polynomial], p: torch.Tensor, order: float) -> torch.Tensor:
    """Sum polynomial_k(p) / order^k over k."""
    coefficients = [0.0] * (3 * _NUM_TERMS + 1)
    for k, polynomial in enumerate(polynomials):
        for power, c in polynomial.items():
            coefficients[power] += float(c) / order**k
    total = torch.zeros_like(p)
    for coefficient in reversed(coefficients):
        total = total * p + coefficient
    return total


def _log_normalizer_and_ratio(dim: int, k: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return F and A, each of the shape of `k` (float64, positive)."""
    order = dim / 2 - 1
    steps = max(1, math.ceil(_LOWEST_EXPANDED_ORDER - order))
    n = order + steps

    z = k / n
    s = torch.sqrt(1 + z * z)
    excess = z * z / (1 + s)  # s - 1
    u = _debye_sum(_U, 1 / s, n)
    ratio = (s * _debye_sum(_V, 1 / s, n) / u - 1) / z
    log_normalizer = (
        n * (excess - torch.log1p(excess / 2))
        - torch.log(s) / 2
        # Dividing by the same sum at k = 0 is Stirling's series for Gamma(n + 1).
        + torch.log(u / _debye_sum(_U, torch.ones_like(s), n))
    )
    for _ in range(steps):
        log_normalizer = log_normalizer + torch.log1p(k * ratio / (2 * n))
        ratio = 1 / (2 * n / k + ratio)
        n -= 1
    return log_normalizer, ratio


class _MeanResultantLength(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dim: int, concentration: torch.Tensor) -> torch.Tensor:
        ctx.dim = dim
        _, ratio = _log_normalizer_and_ratio(dim, concentration.double())
        ctx.save_for_backward(concentration)
        return ratio.to(concentration.dtype)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[None, torch.Tensor]:
        (concentration,) = ctx.saved_tensors
        # Riccati: A' = 1 - A^2 - (m-1) A / k. Double precision, because it cancels for a large k.
        k = concentration.double()
        a = mean_resultant_length(ctx.dim, k)
        derivative = 1 - a * a - (ctx.dim - 1) * a / k
        return None, grad_outputs[0] * derivative.to(concentration.dtype)


class _LogNormalizer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dim: int, concentration: torch.Tensor) -> torch.Tensor:
        ctx.dim = dim
        log_normalizer, _ = _log_normalizer_and_ratio(dim, concentration.double())
        ctx.save_for_backward(concentration)
        return log_normalizer.to(concentration.dtype)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[None, torch.Tensor]:
        (concentration,) = ctx.saved_tensors
        return None, grad_outputs[0] * mean_resultant_length(ctx.dim, concentration)


def mean_resultant_length(dim: int, concentration: torch.Tensor) -> torch.Tensor:
    """Compute A(k) = I_{m/2}(k) / I_{m/2-1}(k), the length of the mean of vMF(mu, k), in (0, 1).

    # Parameters

    dim : `int`
        m >= 2, the dimension of the space that contains the sphere.
    concentration : `torch.Tensor`
        k > 0, of any shape and any floating type. The result is computed in float64 and returned
        in the type of `concentration`. It can be differentiated twice.
    """
    apply = cast(_Apply, _MeanResultantLength.apply)
    return apply(dim, concentration)


def log_normalizer(dim: int, concentration: torch.Tensor) -> torch.Tensor:
    """Compute F(k) = log 0F1(; m/2; k^2/4), the log-normalizer of vMF(mu, k).

    The reference measure is the uniform density. The parameters are those of
    `mean_resultant_length`, which is the derivative.
    """
    apply = cast(_Apply, _LogNormalizer.apply)
    return apply(dim, concentration)
