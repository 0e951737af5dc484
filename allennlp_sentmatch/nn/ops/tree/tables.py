"""The packed sentences of the Gumbel Tree-LSTM's composition, and the results of its passes."""

from typing import NamedTuple, Optional

import torch
from torch import Tensor


class Sentences(NamedTuple):
    """The packed sentences, longest first."""

    lengths: Tensor  # (B)
    sizes: list[int]  # of T steps: the number of sentences with more than t tokens

    def leaf_rows(self) -> Tensor:
        """Return the packed row of each token, (B, T); 0 at padding."""
        device = self.lengths.device
        rows = torch.zeros(self.sizes[0], len(self.sizes), dtype=torch.long, device=device)
        start = 0
        for step, size in enumerate(self.sizes):
            rows[:size, step] = torch.arange(start, start + size, device=device)
            start += size
        return rows


class Trace(NamedTuple):
    """The results of the forward pass for B sentences of at most T tokens."""

    root_hidden: Tensor  # (B, H)
    root_cell: Tensor  # (B, H)
    merges: Tensor  # (B, T - 1)
    saved: tuple[Optional[Tensor], ...]  # for the backward pass of the same backend


class TreeGradients(NamedTuple):
    """The gradients of the packed leaves and the weights."""

    hidden: Tensor  # (N, H)
    cell: Tensor  # (N, H)
    weight: Optional[Tensor]  # `None` if it is not needed
    bias: Tensor
    query: Optional[Tensor]  # `None` if the choices were not sampled
