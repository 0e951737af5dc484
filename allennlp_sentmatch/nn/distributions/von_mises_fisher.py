"""The von Mises-Fisher distribution on the unit hypersphere of R^m.

    f(x; mu, k) = C_m(k) exp(k mu^T x)                                          (thesis eq. 6.2)
    C_m(k)      = k^{m/2-1} / ((2 pi)^{m/2} I_{m/2-1}(k))
    KL(vMF(mu, k) || U(S^{m-1})) = log C_m(k) - log U + k A(k)                  (thesis eq. 6.3)

with U = Gamma(m/2) / (2 pi^{m/2}) the uniform density. In terms of `bessel.log_normalizer` F and
`bessel.mean_resultant_length` A: log C_m = log U - F, and the KL is k A - F.

Sampling: Ulrich (1984) and Wood (1994) as in algorithm 1 of Davidson et al. (2018),
"Hyperspherical Variational Auto-Encoders" (https://arxiv.org/abs/1804.00891).
"""

from typing import Optional

import torch
from torch.distributions import Beta, Distribution, constraints, register_kl
from torch.types import _size

from allennlp_sentmatch.nn.distributions.bessel import log_normalizer, mean_resultant_length
from allennlp_sentmatch.nn.distributions.hyperspherical_uniform import HypersphericalUniform
from allennlp_sentmatch.nn.distributions.unit_vector import unit_vector


class VonMisesFisher(Distribution):
    """vMF(loc, concentration).

    `rsample` is differentiable. The gradient with respect to `loc` is unbiased. The gradient with
    respect to `concentration` is the pathwise gradient through the accepted proposal. It does
    **not** include the correction for the dependence of the acceptance on the concentration (g_cor
    in Davidson et al., appendix D, after Naesseth et al. 2017): that is a score-function term of
    the whole loss, which a sampler cannot know. For E[mu^T x] the gradient is too small by 20 % at
    m = 3, kappa = 1, and by 0.7 % at m = kappa = 100. The gradients of `log_prob`, `entropy` and
    the KL divergence are exact.

    # Parameters

    loc : `torch.Tensor`
        mu: unit vectors, (..., m), m >= 2.
    concentration : `torch.Tensor`
        kappa > 0, (..., 1); it broadcasts against `loc`.
    validate_args : `bool`, optional (default = `None`)
        As in `torch.distributions.Distribution`.

    # Raises

    `ValueError`
        If m is less than 2, or `concentration` has no last dimension of size 1.
    """

    arg_constraints: dict[str, constraints.Constraint] = {
        "loc": unit_vector,
        "concentration": constraints.independent(constraints.positive, 1),
    }
    support = unit_vector
    has_rsample = True

    def __init__(
        self,
        loc: torch.Tensor,
        concentration: torch.Tensor,
        validate_args: Optional[bool] = None,
    ) -> None:
        if loc.dim() < 1 or loc.size(-1) < 2:
            raise ValueError(
                f"loc has shape {tuple(loc.shape)}; expected (..., m) with m of at least 2"
            )
        if concentration.dim() < 1 or concentration.size(-1) != 1:
            raise ValueError(
                f"concentration has shape {tuple(concentration.shape)}; expected (..., 1)"
            )
        self.loc = loc
        self.concentration = concentration
        self._dim = loc.size(-1)
        batch_shape = (loc[..., :1] * concentration).shape[:-1]
        super().__init__(batch_shape, loc.shape[-1:], validate_args=validate_args)

    def expand(
        self, batch_shape: _size, _instance: Optional[Distribution] = None
    ) -> "VonMisesFisher":
        """Return this distribution with another batch shape."""
        batch_shape = torch.Size(batch_shape)
        return VonMisesFisher(
            self.loc.expand(batch_shape + self.event_shape),
            self.concentration.expand(batch_shape + (1,)),
            validate_args=False,
        )

    @property
    def mean(self) -> torch.Tensor:
        """A(kappa) mu: (*batch_shape, m)."""
        return mean_resultant_length(self._dim, self.concentration) * self.loc

    @property
    def mode(self) -> torch.Tensor:
        """mu: (*batch_shape, m)."""
        return self.loc.expand(self._extended_shape())

    @property
    def variance(self) -> torch.Tensor:
        """The variance of each coordinate, (*batch_shape, m): A' along mu, A / kappa across it."""
        length = mean_resultant_length(self._dim, self.concentration)
        across = length / self.concentration
        along = 1 - length**2 - (self._dim - 1) * across
        return across + (along - across) * self.loc**2

    def rsample(self, sample_shape: _size = torch.Size()) -> torch.Tensor:  # noqa: B008
        """Draw samples, (*sample_shape, *batch_shape, m), differentiable as described above."""
        shape = self._extended_shape(torch.Size(sample_shape))
        # shape: (*sample_shape, *batch_shape, 1)
        cosine, sine = self._sample_angle(shape[:-1] + (1,))
        # A uniform direction in the subspace orthogonal to the first axis, (..., m - 1).
        direction = torch.randn(
            shape[:-1] + (self._dim - 1,), dtype=self.loc.dtype, device=self.loc.device
        )
        direction = direction / direction.norm(dim=-1, keepdim=True)
        around_axis = torch.cat([cosine, sine * direction], dim=-1)
        return self._rotate_axis_to_loc(around_axis)

    def _sample_angle(self, shape: torch.Size) -> tuple[torch.Tensor, torch.Tensor]:
        """Draw the cosine w = mu^T x and the sine sqrt(1 - w^2), each of the given shape.

        The formulas of Davidson et al. are rearranged to avoid differences of numbers near 1. With
        e ~ Beta((m-1)/2, (m-1)/2) and D = 1 - (1-b) e,

            w = (1 - (1+b) e) / D,   1 - w = 2 b e / D,   1 - w^2 = 4 b e (1-e) / D^2,
            accept if  k (w - x0) + (m-1) log((1+b) / (2 D)) >= log u,   x0 = (1-b) / (1+b).
        """
        degrees = self._dim - 1
        # shape: (*sample_shape, *batch_shape, 1)
        k = self.concentration.to(self.loc.dtype).expand(shape)
        b = degrees / (2 * k + torch.sqrt(4 * k**2 + degrees**2))

        with torch.no_grad():
            concentration = b.new_full((), degrees / 2)
            proposal = Beta(concentration, concentration, validate_args=False)
            accepted_e = torch.empty_like(b).flatten()
            # Flat indices of the samples without an accepted proposal.
            pending = torch.arange(accepted_e.numel(), device=b.device)
            flat_b, flat_k = b.flatten(), k.flatten()
            while pending.numel() > 0:
                pending_b, pending_k = flat_b[pending], flat_k[pending]
                e = proposal.sample(pending.shape)
                denominator = 1 - (1 - pending_b) * e
                log_ratio = pending_k * (
                    2 * pending_b / (1 + pending_b) - 2 * pending_b * e / denominator
                ) + degrees * torch.log((1 + pending_b) / (2 * denominator))
                accept = log_ratio >= torch.log(torch.rand_like(e))
                accepted_e[pending[accept]] = e[accept]
                pending = pending[~accept]
            e = accepted_e.view(shape)

        denominator = 1 - (1 - b) * e
        cosine = (1 - (1 + b) * e) / denominator
        sine = 2 * torch.sqrt(b * (e * (1 - e))) / denominator
        return cosine, sine

    def _rotate_axis_to_loc(self, x: torch.Tensor) -> torch.Tensor:
        """Apply an orthogonal map from the first axis to `loc`: a Householder reflection.

        The reflection that swaps the axis with -mu or mu, whichever is farther away, is well
        conditioned for every mu. The one of Davidson et al. divides by |e1 - mu|.
        """
        # shape: (*batch_shape, 1)
        first = self.loc[..., :1]
        sign = torch.where(first < 0, -torch.ones_like(first), torch.ones_like(first))
        normal = torch.cat([first + sign, self.loc[..., 1:]], dim=-1)
        # |normal|^2 = 2 (1 + |mu_1|), because mu is a unit vector.
        projection = (normal * x).sum(dim=-1, keepdim=True) / (1 + first.abs())
        return sign * (projection * normal - x)

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        """Return the log-density at unit vectors `value`, (*sample_shape, *batch_shape)."""
        if self._validate_args:
            self._validate_sample(value)
        cosine = (self.loc * value).sum(dim=-1, keepdim=True)
        log_prob: torch.Tensor = (
            self.concentration * cosine
            - log_normalizer(self._dim, self.concentration)
            - self._log_area()
        ).squeeze(-1)
        return log_prob

    def entropy(self) -> torch.Tensor:
        """Return the differential entropy, (*batch_shape)."""
        return self._log_area() - self._divergence_from_uniform()

    def _divergence_from_uniform(self) -> torch.Tensor:
        """Return KL(self || uniform) = kappa A - F, eq. 6.3, (*batch_shape)."""
        k = self.concentration
        # In float64, because for a large kappa this is a small difference of large numbers.
        k64 = k.double()
        divergence = k64 * mean_resultant_length(self._dim, k64) - log_normalizer(self._dim, k64)
        return divergence.to(k.dtype).squeeze(-1).expand(self.batch_shape)

    def _log_area(self) -> float:
        return float(HypersphericalUniform(self._dim, dtype=torch.float64).entropy())


@register_kl(VonMisesFisher, HypersphericalUniform)  # type: ignore[untyped-decorator]
def _kl_von_mises_fisher_uniform(p: VonMisesFisher, q: HypersphericalUniform) -> torch.Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL divergence between distributions on different spheres: "
            f"{p.event_shape[0]} and {q.event_shape[0]} dimensions"
        )
    divergence = p._divergence_from_uniform()
    # Zeros of the prior's batch shape broadcast the divergence.
    return divergence + divergence.new_zeros(q.batch_shape)
