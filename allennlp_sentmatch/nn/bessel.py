"""The ratio and logarithm of modified Bessel functions for the von Mises-Fisher distribution.

On the sphere of R^m, with v = m/2 - 1 and k the concentration:

    A(k) = I_{v+1}(k) / I_v(k)                                    the mean resultant length
    F(k) = log 0F1(; m/2; k^2/4) = log(Gamma(v+1) (2/k)^v I_v(k))      the log-normalizer

F is the logarithm of E[exp(k t)] with t a coordinate of a uniform point on the sphere. Hence
F(0) = 0 and F' = A, and F neither overflows nor underflows where I_v does (I_499(0.1) is 1e-1760).

For an order n >= 30 both follow from the uniform asymptotic expansions DLMF 10.41.3 and 10.41.5,
which hold for every k. With z = k/n, s = sqrt(1 + z^2), p = 1/s, their sums U and V = U - p (1 -
p^2) W of polynomials in p, and the leading terms subtracted,

    F = n (s - 1 - log((1 + s) / 2)) - log(s)/2 + log(U(p) / U(1))
    A = (s V/U - 1) / z = z (1 / (1 + s) - p^2 W/U)

where U(1) is Stirling's series for Gamma(n + 1). The recurrence I_{n-1} = I_{n+1} + (2n/k) I_n then
goes down to v. It is stable in this direction, and in the form

    A_{n-1} = 1 / (2n/k + A_n)      F_{n-1} = F_n + log(1 + k A_n / (2n))

it adds only positive terms.
"""

import math

import torch
from torch import Tensor

_LOWEST_EXPANDED_ORDER = 30
_NUM_TERMS = 10


def _debye_polynomials() -> tuple[Tensor, Tensor]:
    """Return a row of coefficients for each U_i(p), DLMF 10.41.9, and W_{i+1} = U_i/2 + p U_i'."""
    power = torch.arange(3 * _NUM_TERMS + 1, dtype=torch.float64, device="cpu")
    by_first = power / 2 + 1 / (8 * (power + 1))
    by_third = power / 2 + 5 / (8 * (power + 3))
    u = [(power == 0).double()]
    for _ in range(_NUM_TERMS):
        last = u[-1]
        u.append((last * by_first).roll(1) - (last * by_third).roll(3))
    w = torch.stack(u[:-1]) * (power + 0.5)
    return torch.stack(u), w


_U, _W = _debye_polynomials()
#: The coefficients of (U_i(p) - U_i(1)) / (p - 1).
_SLOPE = _U.sum(1, keepdim=True) - _U.cumsum(1)


def _debye_sum(
    polynomials: Tensor,
    order: float,
    p: Tensor,
) -> Tensor:
    """Return the sum of polynomial_i(p) / order^i over i."""
    weights = order ** -torch.arange(len(polynomials), dtype=torch.float64, device="cpu")
    total = torch.zeros_like(p)
    for coefficient in reversed((weights @ polynomials).tolist()):
        total = total * p + coefficient
    return total


def log_normalizer_and_ratio(dim: int, concentration: Tensor) -> tuple[Tensor, Tensor]:
    """Compute F(k), the log-normalizer of vMF(mu, k) with respect to the uniform density, and A(k),
    the length of its mean.

    `dim` is m >= 2, the dimension of the space that contains the sphere. `concentration` is k > 0,
    of any shape. The results are computed in float64 and returned in the type of `concentration`.
    """
    k = concentration.double()
    order = dim / 2 - 1
    steps = max(0, math.ceil(_LOWEST_EXPANDED_ORDER - order))
    n = order + steps
    z = k / n
    s = torch.sqrt(1 + z * z)
    excess = z * z / (1 + s)  # s - 1
    u = _debye_sum(_U, n, 1 / s)
    w = _debye_sum(_W, n, 1 / s) / n
    stirling = _debye_sum(_U, n, torch.ones_like(s))
    slope = _debye_sum(_SLOPE, n, 1 / s)
    ratio = z * (1 / (1 + s) - w / (u * s * s))
    leading = n * (excess - torch.log1p(excess / 2))
    correction = torch.log1p(-excess / s * slope / stirling)  # log(u / stirling)
    log_normalizer = leading - torch.log1p(excess) / 2 + correction
    for _ in range(steps):
        log_normalizer = log_normalizer + torch.log1p(k * ratio / (2 * n))
        ratio = 1 / (2 * n / k + ratio)
        n -= 1
    return log_normalizer.to(concentration.dtype), ratio.to(concentration.dtype)
