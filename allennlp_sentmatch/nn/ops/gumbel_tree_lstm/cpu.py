"""The composition compiled for CPUs: one pass over memory per step, apart from the product.

In C++ are the candidates of new parents, the choice of a pair in each sentence, and the copy of its
candidate to a parent. The rows of tables are described in native/_tree_layout.h.
"""

from typing import Optional

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.native import address, fields
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.choices import Choices, rounding_of_scores
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.tables import (
    Trace,
    TreeArguments,
    TreeTables,
    num_relaxed,
    num_rows,
)
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.weights import TreeWeights


def forward(
    backend: Backend,
    sizes: list[int],
    hidden: Tensor,
    cell: Tensor,
    weights: TreeWeights,
    choices: Choices,
    keep: bool,
) -> Trace:
    """Compose the leaves' `hidden` and `cell`, packed (N, H), of a batch with a pair of tokens.

    `sizes` are those of the packing. The results keep all tables only if `keep` is true, for a
    backward pass.
    """
    N, H = hidden.shape
    linear = backend.products.linear
    # Those of a left child with the bias, then those of a right child: (10H, H), (10H)
    weight = backend.products.prepacked(torch.cat(weights.weight.chunk(2, 1)))
    bias = F.pad(weights.bias, (0, 5 * H))
    is_sampled = choices.merges is None and choices.noise is not None
    tables = TreeTables.new(hidden, sizes, is_sampled, keep)
    tables.hidden[:N], tables.cell[:N] = hidden, cell
    steps = NativeComposition(
        sizes, tables, weights.query, choices, leaf_projections=linear(hidden, weight, bias)
    )
    projections: Optional[Tensor] = None
    for step, following in enumerate([*sizes[2:], 0]):
        steps.run(step, projections)
        if following:
            projections = linear(steps.parents[:following], weight, bias)  # (following, 10H)
    return Trace(steps.root_hidden, steps.root_cell, steps.merges, tables)


class Composition(TreeArguments):
    """The arguments of a step; native/_tree_steps.cpp describes them."""

    _fields_ = fields(
        "noise_columns",
        "query constants given merges noise projections leaf_projections hidden cell "
        "candidate_hidden candidate_cell parents root_hidden root_cell parent_projections gates "
        "children merged relaxed_choices nodes candidates scores logits last",
    )


class NativeComposition:
    """The compiled steps over their tables.

    # Parameters

    sizes : `list[int]`
        The number of sentences with more than t tokens, for T tokens.
    tables : `TreeTables`
        With the states of the leaves.
    query : `Tensor`
        Shape (H).
    choices : `Choices`
        For sentences in packed order. The C++ trusts `merges`.
    leaf_projections : `Tensor`
        Shape (N, 10H). It is overwritten if the tables are not for a backward pass.

    # Raises

    `ValueError`
        If a table has the wrong shape, precision or device, or is not contiguous.
    """

    def __init__(
        self,
        sizes: list[int],
        tables: TreeTables,
        query: Tensor,
        choices: Choices,
        leaf_projections: Tensor,
    ) -> None:
        B, T, N, H = sizes[0], len(sizes), sum(sizes), query.size(0)
        keep = tables.gates is not None
        R, K = num_rows(sizes, keep)
        self._noise = choices.noise if choices.merges is None else None
        if self._noise is not None and self._noise[0].size(1) < T - 1:
            raise ValueError(f"expected noise of {T - 1} pairs, got {self._noise[0].size(1)}")
        self._sizes, self._like = sizes, query
        #: The pairs chosen so far, (B, T - 1); -1 elsewhere.
        self.merges = torch.full((B, T - 1), -1, dtype=torch.long, device="cpu")
        #: The roots of sentences whose last step has been run, and of those of one token.
        self.root_hidden, self.root_cell = tables.hidden[:B].clone(), tables.cell[:B].clone()
        #: Shape (B, H): h of the last step's parents.
        self.parents = query.new_empty(B, H)
        constants = query.new_tensor([choices.temperature, float(rounding_of_scores(query))])
        given = None if choices.merges is None else choices.merges[:, : T - 1].contiguous()
        parent_projections = query.new_empty(N - B, 10 * H) if keep else None
        query = query.contiguous()
        numbers, indices = query.new_empty(2, B, T), self.merges.new_empty(3, B, T)
        # The C++ has no references to the tables.
        self._tables = (tables, query, constants, given, leaf_projections, parent_projections)
        self._buffers = (numbers, indices)
        self._step = Composition(
            query,
            query=address(query, (H,), query),
            constants=address(constants, (2,), query),
            given=address(given, (B, T - 1), self.merges),
            merges=address(self.merges, (B, T - 1), self.merges),
            leaf_projections=address(leaf_projections, (N, 10 * H), query),
            hidden=address(tables.hidden, (R, H), query),
            cell=address(tables.cell, (R, H), query),
            candidate_hidden=address(tables.candidate_hidden, (K, H), query),
            candidate_cell=address(tables.candidate_cell, (K, H), query),
            parents=address(self.parents, (B, H), query),
            root_hidden=address(self.root_hidden, (B, H), query),
            root_cell=address(self.root_cell, (B, H), query),
            parent_projections=address(parent_projections, (N - B, 10 * H), query),
            gates=address(tables.gates, (K, 5 * H), query),
            children=address(tables.children, (K, 2), self.merges),
            merged=address(tables.merged, (N - B, 3), self.merges),
            relaxed_choices=address(tables.relaxed, (num_relaxed(sizes),), query),
            scores=numbers[0].data_ptr(),
            logits=numbers[1].data_ptr(),
            nodes=indices[0].data_ptr(),
            candidates=indices[1].data_ptr(),
            last=indices[2].data_ptr(),
        )
        self._step.set_layout(sizes, tables.hidden)

    def run(self, step: int, projections: Optional[Tensor]) -> None:
        """Run a step; steps follow each other.

        `projections`, (n, 10H), are those of the parents of the step before, of `n` sentences with
        another merge; `None` in step 0.
        """
        x, n = self._step, self._sizes[step + 1]
        x.step, x.n = step, n
        if self._noise is not None:
            noise = self._noise[step]
            x.noise_columns = noise.size(1)
            x.noise = address(noise, (self._sizes[0], noise.size(1)), self._like)
        x.projections = address(projections, (n, 10 * self._like.size(0)), self._like)
        x.run("tree_forward")
