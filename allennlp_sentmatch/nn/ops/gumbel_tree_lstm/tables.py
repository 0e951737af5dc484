"""The tables of the Gumbel Tree-LSTM's composition."""

from itertools import accumulate
from typing import NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.native import Arguments, check_sizes, fields
from allennlp_sentmatch.nn.ops.common.packing import lengths_of


class Trace(NamedTuple):
    """The results of the forward pass for B sentences of at most T tokens."""

    root_hidden: Tensor  # (B, H)
    root_cell: Tensor  # (B, H)
    merges: Tensor  # (B, T - 1)
    tables: "TreeTables"


class TreeGradients(NamedTuple):
    """The gradients of the packed leaves and the weights."""

    hidden: Tensor  # (N, H)
    cell: Tensor  # (N, H)
    weight: Optional[Tensor]  # `None` if it is not needed
    bias: Tensor
    query: Optional[Tensor]  # `None` if the choices were not sampled


class TreeTables(NamedTuple):
    """R nodes and K candidates; the tables after the first four are for a backward pass.

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
    def new(cls, hidden: Tensor, sizes: list[int], is_sampled: bool, keep: bool) -> "TreeTables":
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


class TreeArguments(Arguments):
    """The first arguments of the steps and of their gradient; see native/_tree_layout.h."""

    _fields_ = fields("H num_tokens num_leaves step n", "sizes first lengths first_relaxed")

    def set_layout(self, sizes: list[int], hidden: Tensor) -> None:
        """Describe the rows of tables for sentences of these sizes, with states like `hidden`.

        # Raises

        `ValueError`
            If there cannot be such sizes, or no sentence has two tokens.
        """
        check_sizes(sizes, sum(sizes))
        if len(sizes) < 2:
            raise ValueError("a sentence must have two tokens")
        relaxed = [n * (len(sizes) - 1 - step) for step, n in enumerate(sizes[1:])]
        layout = {
            "sizes": torch.tensor(sizes, device="cpu"),  # (T)
            "first": torch.tensor([0, *accumulate(sizes)], device="cpu"),  # (T + 1)
            "lengths": lengths_of(sizes),  # (B)
            "first_relaxed": torch.tensor([0, *accumulate(relaxed)], device="cpu"),  # (T)
        }
        self._layout = layout  # to which the C++ has no references
        self.H, self.num_tokens, self.num_leaves = hidden.size(1), len(sizes), sum(sizes)
        for name, table in layout.items():
            setattr(self, name, table.data_ptr())
