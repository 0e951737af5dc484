"""The sentences and the tables of the Gumbel Tree-LSTM's composition."""

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


class EagerTreeTables(NamedTuple):
    """The tables of "eager": the nodes; for a backward pass, the leaves, then all parents."""

    states: Tensor  # (rows, 2H), [h; c]
    #: Shape (rows, 10H): W_comp's products with h as a left child, with b_comp, and as a right one.
    #: Not those of roots.
    projected: Tensor


class CPUTreeTables(NamedTuple):
    """The tables of "cpu": R nodes and K candidates; after the first four, for a backward pass.

    With them, there are rows for all nodes and candidates, else only for the remaining ones.
    """

    hidden: Tensor  # (R, H)
    cell: Tensor  # (R, H)
    candidate_hidden: Tensor  # (K, H)
    candidate_cell: Tensor  # (K, H)
    gates: Optional[Tensor] = None  # (K, 5H): i, f_l, f_r, o, g
    children: Optional[Tensor] = None  # (K, 2): nodes; -1 in rows without a candidate
    #: Shape (P, 3): each parent's candidate, between its neighbors or -1.
    merged: Optional[Tensor] = None
    relaxed: Optional[Tensor] = None  # the steps' y (n, M), flat, if choices are sampled

    @classmethod
    def new(cls, hidden: Tensor, sizes: list[int], is_sampled: bool, keep: bool) -> "CPUTreeTables":
        """Return tables without values."""
        H, (R, K) = hidden.size(1), num_rows(sizes, keep)
        nodes = hidden.new_empty(R, H), hidden.new_empty(R, H)
        candidates = hidden.new_empty(K, H), hidden.new_empty(K, H)
        if not keep:
            return cls(*nodes, *candidates)
        return cls(
            *nodes,
            *candidates,
            gates=hidden.new_empty(K, 5 * H),
            children=hidden.new_empty(K, 2, dtype=torch.long),
            merged=hidden.new_empty(sum(sizes[1:]), 3, dtype=torch.long),
            relaxed=hidden.new_empty(num_relaxed(sizes)) if is_sampled else None,
        )


def num_rows(sizes: list[int], keep: bool) -> tuple[int, int]:
    """Return the numbers of rows R and K for sentences of these sizes."""
    num_leaves, num_merges = sum(sizes), sum(sizes[1:])
    if not keep:
        return num_leaves, num_merges
    # Each merge but a sentence's last one makes two candidates.
    return num_leaves + num_merges, num_merges + 2 * (num_merges - sizes[1])


def num_relaxed(sizes: list[int]) -> int:
    """Return the size of the relaxed choices."""
    return sum(n * (len(sizes) - 1 - step) for step, n in enumerate(sizes[1:]))
