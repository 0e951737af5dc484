"""The support of distributions on the unit hypersphere, as a `torch.distributions` constraint."""

import torch
from torch.distributions.constraints import Constraint


class _UnitVector(Constraint):
    """A vector of Euclidean norm 1, up to the precision of its type."""

    event_dim = 1

    def check(self, value: torch.Tensor) -> torch.Tensor:
        tolerance = 100 * torch.finfo(value.dtype).eps
        return torch.lt((value.norm(dim=-1) - 1).abs(), tolerance)


unit_vector = _UnitVector()
