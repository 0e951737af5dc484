"""Initial values of the layers' parameters."""

import torch


def uniform_parameter(*shape: int) -> torch.nn.Parameter:
    """A vector or matrix from U(-1/sqrt(K), 1/sqrt(K)) with K columns, as in `torch.nn.Linear`."""
    bound = shape[-1] ** -0.5
    return torch.nn.Parameter(torch.empty(shape).uniform_(-bound, bound))
