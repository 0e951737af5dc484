"""The uniform distribution on the unit hypersphere of R^m, U(S^{m-1}) = vMF(., 0).

Its density is the inverse of the sphere's area, Gamma(m/2) / (2 pi^{m/2}) (thesis eq. 6.3).
"""

import math
from typing import Optional

import torch
from torch.distributions import Distribution, constraints
from torch.types import _size

from allennlp_sentmatch.nn.distributions.unit_vector import unit_vector


class HypersphericalUniform(Distribution):
    """U(S^{m-1}), the prior p(z) of the cross-sentence latent variable model.

    # Parameters

    dim : `int`
        m >= 2; the event shape is `(m,)`.
    batch_shape : `torch.Size`, optional (default = `torch.Size()`)
    dtype : `torch.dtype`, optional (default = torch's default)
        The type of the samples and densities.
    device : `torch.device`, optional (default = torch's default)
    validate_args : `bool`, optional (default = `None`)
        As in `torch.distributions.Distribution`.

    # Raises

    `ValueError`
        If `dim` is less than 2.
    """

    arg_constraints: dict[str, constraints.Constraint] = {}
    support = unit_vector
    has_rsample = True

    def __init__(
        self,
        dim: int,
        batch_shape: torch.Size = torch.Size(),  # noqa: B008 (immutable)
        dtype: Optional[torch.dtype] = None,
        device: Optional[torch.device] = None,
        validate_args: Optional[bool] = None,
    ) -> None:
        if dim < 2:
            raise ValueError(f"dim is {dim}; a hypersphere needs at least 2 dimensions")
        self.dim = dim
        self.dtype = dtype or torch.get_default_dtype()
        self.device = device
        super().__init__(torch.Size(batch_shape), torch.Size((dim,)), validate_args=validate_args)

    def expand(
        self, batch_shape: _size, _instance: Optional[Distribution] = None
    ) -> "HypersphericalUniform":
        """Return this distribution with another batch shape."""
        return HypersphericalUniform(
            self.dim, torch.Size(batch_shape), self.dtype, self.device, validate_args=False
        )

    @property
    def mean(self) -> torch.Tensor:
        """Zero: (*batch_shape, m)."""
        shape = self._extended_shape()
        return torch.zeros(shape, dtype=self.dtype, device=self.device)

    @property
    def variance(self) -> torch.Tensor:
        """1/m in each coordinate: (*batch_shape, m)."""
        return self.mean + 1 / self.dim

    def rsample(self, sample_shape: _size = torch.Size()) -> torch.Tensor:  # noqa: B008
        """Draw samples, (*sample_shape, *batch_shape, m)."""
        shape = self._extended_shape(torch.Size(sample_shape))
        normal = torch.randn(shape, dtype=self.dtype, device=self.device)
        unit: torch.Tensor = normal / normal.norm(dim=-1, keepdim=True)
        return unit

    def log_prob(self, value: torch.Tensor) -> torch.Tensor:
        """Return the log-density, a constant, (*sample_shape, *batch_shape)."""
        if self._validate_args:
            self._validate_sample(value)
        # Zeros of the value's batch shape broadcast the constant.
        return value.new_zeros(value.shape[:-1]) - self.entropy().to(value)

    def entropy(self) -> torch.Tensor:
        """Return the logarithm of the sphere's area, (*batch_shape)."""
        log_area = math.log(2) + self.dim / 2 * math.log(math.pi) - math.lgamma(self.dim / 2)
        return torch.full(self.batch_shape, log_area, dtype=self.dtype, device=self.device)
