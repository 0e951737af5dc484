"""Distributions on the unit hypersphere of R^m, as `torch.distributions` classes.

The uniform distribution U(S^{m-1}) = vMF(., 0) has as its density the inverse of the sphere's area,
U = Gamma(m/2) / (2 pi^{m/2}) (thesis eq. 6.3). The von Mises-Fisher distribution is

    f(x; mu, k) = C_m(k) exp(k mu^T x)                                          (thesis eq. 6.2)
    C_m(k)      = k^{m/2-1} / ((2 pi)^{m/2} I_{m/2-1}(k))
    KL(vMF(mu, k) || U(S^{m-1})) = log C_m(k) - log U + k A(k)                  (thesis eq. 6.3)

In terms of F and A of `allennlp_sentmatch.nn.bessel`, log C_m = log U - F, and the KL is k A - F.

Sampling: Ulrich (1984) and Wood (1994) as in algorithm 1 of Davidson et al. (2018),
"Hyperspherical Variational Auto-Encoders" (https://arxiv.org/abs/1804.00891).
"""

import math
from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Beta, Distribution, constraints, register_kl
from torch.types import _size

from allennlp_sentmatch.nn.bessel import log_normalizer_and_ratio
from allennlp_sentmatch.nn.checks import check_kind, integer


class _UnitVector(constraints.Constraint):
    """The constraint of Euclidean norm 1, up to the precision of the type."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        tolerance = 100 * torch.finfo(value.dtype).eps
        distance = (value.norm(dim=-1) - 1).abs()
        return torch.lt(distance, tolerance)


unit_vector = _UnitVector()


def _log_area(dim: int) -> float:
    """Return the logarithm of the area of the unit sphere in a space of `dim` dimensions."""
    half = dim / 2
    return math.log(2) + half * math.log(math.pi) - math.lgamma(half)


class HypersphericalUniform(Distribution):
    """U(S^{m-1}), the prior p(z) of the cross-sentence latent variable model.

    # Parameters

    dim : `int`
        m >= 2; the event shape is `(m,)`.
    dtype : `torch.dtype`, optional (default = torch's default)
        The type of the samples and densities.
    device : `torch.device`, optional (default = torch's default)
    validate_args : `bool`, optional (default = `None`)
        As in `torch.distributions.Distribution`.
    """

    arg_constraints: dict[str, constraints.Constraint] = {}
    support = unit_vector
    has_rsample = True

    def __init__(
        self,
        dim: int,
        dtype: Optional[torch.dtype] = None,
        device: Optional[torch.device] = None,
        validate_args: Optional[bool] = None,
    ) -> None:
        check_kind(integer(least=2), dim=dim)
        self.dim = dim
        self.dtype = dtype or torch.get_default_dtype()
        self.device = device
        super().__init__(event_shape=torch.Size((dim,)), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """Return zeros, (m,)."""
        return torch.zeros(self.dim, dtype=self.dtype, device=self.device)

    @property
    def variance(self) -> Tensor:
        """Return 1/m in each coordinate, (m,)."""
        return self.mean + 1 / self.dim

    def rsample(self, sample_shape: _size = torch.Size()) -> Tensor:  # noqa: B008
        """Draw samples, (*sample_shape, m)."""
        shape = self._extended_shape(torch.Size(sample_shape))
        normal = torch.randn(shape, dtype=self.dtype, device=self.device)
        return F.normalize(normal, dim=-1)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the log-density, a constant, (...), at values (..., m)."""
        if self._validate_args:
            self._validate_sample(value)
        # Zeros of the value's batch shape broadcast the constant.
        zeros = value.new_zeros(value.shape[:-1])
        return zeros - self.entropy().to(value)

    def entropy(self) -> Tensor:
        """Return the logarithm of the sphere's area, a scalar."""
        return torch.tensor(_log_area(self.dim), dtype=self.dtype, device=self.device)


class VonMisesFisher(Distribution):
    """vMF(loc, concentration).

    `rsample` is differentiable. The gradient with respect to `loc` is unbiased. The gradient with
    respect to `concentration` is the pathwise gradient through the accepted proposal. It does
    **not** include the correction for the dependence of the acceptance on the concentration (g_cor
    in Davidson et al., appendix D, after Naesseth et al. 2017): that is a score-function term of
    the whole loss, which a sampler cannot know. For E[mu^T x] the gradient is too small by 20 % at
    m = 3, kappa = 1, and by 0.7 % at m = kappa = 100. The gradients of `log_prob`,
    `entropy` and the KL divergence are exact.

    `loc` is mu, unit vectors (..., m) with m >= 2. `concentration` is kappa > 0, (..., 1), and
    broadcasts against it. `validate_args` is as in `torch.distributions.Distribution`.
    """

    arg_constraints: dict[str, constraints.Constraint] = {
        "loc": unit_vector,
        "concentration": constraints.independent(constraints.positive, 1),
    }
    support = unit_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        concentration: Tensor,
        validate_args: Optional[bool] = None,
    ) -> None:
        if loc.dim() < 1 or loc.size(-1) < 2:
            raise ValueError(f"loc has shape {tuple(loc.shape)}; expected (..., m) with m >= 2")
        if concentration.dim() < 1 or concentration.size(-1) != 1:
            raise ValueError(
                f"concentration has shape {tuple(concentration.shape)}; expected (..., 1)"
            )
        self.loc = loc
        self.concentration = concentration
        self._dim = loc.size(-1)
        batch_shape = (loc[..., :1] * concentration).shape[:-1]
        super().__init__(batch_shape, loc.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """Return A(kappa) mu, (*batch_shape, m)."""
        _, ratio = log_normalizer_and_ratio(self._dim, self.concentration)
        return ratio * self.loc

    @property
    def mode(self) -> Tensor:
        """Return mu, (*batch_shape, m)."""
        return self.loc.expand(self._extended_shape())

    @property
    def variance(self) -> Tensor:
        """Return the variances, (*batch_shape, m): A' along mu, A / kappa across it."""
        # In float64, because for a large kappa A' is a small difference of large numbers.
        k = self.concentration.double()
        _, ratio = log_normalizer_and_ratio(self._dim, k)
        across = ratio / k
        along = (1 - ratio**2 - (self._dim - 1) * across).clamp(min=0)
        variance = across + (along - across) * self.loc.double() ** 2
        return variance.to(self.loc.dtype)

    def rsample(self, sample_shape: _size = torch.Size()) -> Tensor:  # noqa: B008
        """Draw samples, (*sample_shape, *batch_shape, m), differentiable as described above."""
        shape = self._extended_shape(torch.Size(sample_shape))
        cosine, sine = self._sample_angle(shape[:-1] + (1,))  # (*sample_shape, *batch_shape, 1)
        # A uniform direction in the subspace orthogonal to the first axis, (..., m - 1).
        orthogonal_shape = (*shape[:-1], self._dim - 1)
        normal = self.loc.new_empty(orthogonal_shape).normal_()
        direction = F.normalize(normal, dim=-1)
        around_axis = torch.cat([cosine, sine * direction], dim=-1)
        return self._rotate_axis_to_loc(around_axis)

    def _sample_angle(self, shape: torch.Size) -> tuple[Tensor, Tensor]:
        """Draw the cosine w = mu^T x and the sine sqrt(1 - w^2), each of the given shape.

        The formulas of Davidson et al. are rearranged to avoid differences of numbers near 1. With
        e ~ Beta((m-1)/2, (m-1)/2) and D = 1 - (1-b) e,

            w = (1 - (1+b) e) / D,   1 - w = 2 b e / D,   1 - w^2 = 4 b e (1-e) / D^2,
            accept if  k (w - x0) + (m-1) log((1+b) / (2 D)) >= log u,   x0 = (1-b) / (1+b).
        """
        degrees = self._dim - 1
        k = self.concentration.to(self.loc.dtype).expand(shape)  # (*sample_shape, *batch_shape, 1)
        b = degrees / (2 * k + torch.sqrt(4 * k**2 + degrees**2))

        with torch.no_grad():
            e = self._accepted_proposals(b, k)
        denominator = 1 - (1 - b) * e
        cosine = (1 - (1 + b) * e) / denominator
        sine = 2 * torch.sqrt(b * (e * (1 - e))) / denominator
        return cosine, sine

    def _accepted_proposals(self, b: Tensor, k: Tensor) -> Tensor:
        """Draw e until it is accepted for each b and k, which have the same shape."""
        degrees = self._dim - 1
        half = b.new_full((), degrees / 2)
        proposal = Beta(half, half, validate_args=False)
        accepted = torch.empty_like(b).flatten()
        flat_b = b.flatten()
        flat_k = k.flatten()
        # Flat indices of the samples without an accepted proposal.
        pending = torch.arange(accepted.numel(), device=b.device)
        while pending.numel() > 0:
            own_b = flat_b[pending]
            own_k = flat_k[pending]
            e = proposal.sample(pending.shape)
            denominator = 1 - (1 - own_b) * e
            # w - x0, in terms of 1 - w and 1 - x0
            difference = 2 * own_b / (1 + own_b) - 2 * own_b * e / denominator
            log_ratio = own_k * difference
            log_ratio = log_ratio + degrees * torch.log((1 + own_b) / (2 * denominator))
            # A concentration of NaN or infinity, where the ratio is NaN, accepts any proposal.
            is_accepted = ~(log_ratio < torch.log(torch.rand_like(e)))
            accepted[pending[is_accepted]] = e[is_accepted]
            pending = pending[~is_accepted]
        return accepted.view_as(b)

    def _rotate_axis_to_loc(self, x: Tensor) -> Tensor:
        """Apply an orthogonal map from the first axis to `loc`: a Householder reflection.

        The reflection that swaps the axis with -mu or mu, whichever is farther away, is well
        conditioned for every mu. The reflection of Davidson et al. divides by |e1 - mu|.
        """
        first = self.loc[..., :1]  # (*batch_shape, 1)
        sign = torch.where(first < 0, -1, 1).to(first.dtype)
        normal = torch.cat([first + sign, self.loc[..., 1:]], dim=-1)
        product = (normal * x).sum(dim=-1, keepdim=True)
        # |normal|^2 = 2 (1 + |mu_1|), because mu is a unit vector.
        projection = product / (1 + first.abs())
        return sign * (projection * normal - x)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the log-density at unit vectors `value`, (*sample_shape, *batch_shape)."""
        if self._validate_args:
            self._validate_sample(value)
        cosine = (self.loc * value).sum(dim=-1, keepdim=True)
        log_normalizer, _ = log_normalizer_and_ratio(self._dim, self.concentration)
        log_density = self.concentration * cosine - log_normalizer - _log_area(self._dim)
        return log_density.squeeze(-1)

    def entropy(self) -> Tensor:
        """Return the differential entropy, (*batch_shape)."""
        return _log_area(self._dim) - self._divergence_from_uniform()

    def _divergence_from_uniform(self) -> Tensor:
        """Return KL(self || uniform) = kappa A - F, eq. 6.3, (*batch_shape)."""
        k = self.concentration
        # In float64, because for a large kappa this is a small difference of large numbers.
        log_normalizer, ratio = log_normalizer_and_ratio(self._dim, k.double())
        divergence = k.double() * ratio - log_normalizer
        return divergence.to(k.dtype).squeeze(-1).expand(self.batch_shape)


@register_kl(VonMisesFisher, HypersphericalUniform)  # type: ignore[untyped-decorator]
def _kl_von_mises_fisher_uniform(p: VonMisesFisher, q: HypersphericalUniform) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL divergence between distributions on different spheres: "
            f"{p.event_shape[0]} and {q.event_shape[0]} dimensions"
        )
    return p._divergence_from_uniform()
