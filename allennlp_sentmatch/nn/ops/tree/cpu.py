"""The composition compiled for CPUs: one pass over memory per step, apart from the product.

In C++ are the candidates of new parents, the choice of a pair in each sentence, and the copy of its
candidate to a parent. The tables are bound to it once, checked; then a step is a call with a few
numbers. Their rows are described in native/_tree_layout.h.
"""

from typing import Optional

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.backends import COMPILED, Backend
from allennlp_sentmatch.nn.ops.common.native_tables import address, precision_and_threads
from allennlp_sentmatch.nn.ops.tree.choices import Choices, rounding_of_scores
from allennlp_sentmatch.nn.ops.tree.tables import (
    CPUTreeTables,
    Sentences,
    Trace,
    num_relaxed,
    num_rows,
)
from allennlp_sentmatch.nn.ops.tree.weights import TreeWeights

if COMPILED:
    from allennlp_sentmatch.nn.ops.native import _tree_steps


def forward(
    backend: Backend,
    sentences: Sentences,
    hidden: Tensor,
    cell: Tensor,
    weights: TreeWeights,
    choices: Choices,
    keep: bool,
) -> Trace:
    """Compute `eager.forward`."""
    (N, H), sizes = hidden.shape, sentences.sizes
    linear = backend.products.linear
    # Those of a left child with the bias, then those of a right child: (10H, H), (10H)
    weight = backend.products.prepacked(torch.cat(weights.weight.chunk(2, 1)))
    bias = F.pad(weights.bias, (0, 5 * H))
    is_sampled = choices.merges is None and choices.noise is not None
    tables = CPUTreeTables.new(hidden, sizes, is_sampled, keep)
    tables.hidden[:N], tables.cell[:N] = hidden, cell
    steps = BoundSteps(
        sizes, tables, weights.query, choices, leaf_projections=linear(hidden, weight, bias)
    )
    projections: Optional[Tensor] = None
    for step, following in enumerate([*sizes[2:], 0]):
        steps.run(step, projections)
        if following:
            projections = linear(steps.parents[:following], weight, bias)  # (following, 10H)
    return Trace(steps.root_hidden, steps.root_cell, steps.merges, tuple(tables) if keep else ())


class BoundSteps:
    """The steps over bound tables.

    # Parameters

    sizes : `list[int]`
        The number of sentences with more than t tokens, for T tokens.
    tables : `CPUTreeTables`
        With the states of the leaves.
    query : `Tensor`
        Shape (H).
    choices : `Choices`
        For sentences in packed order.
    leaf_projections : `Tensor`
        Shape (N, 10H). It is overwritten if the tables are not for a backward pass.

    # Raises

    `ValueError`
        If a table has the wrong shape, precision or device, or is not contiguous.
    """

    def __init__(
        self,
        sizes: list[int],
        tables: CPUTreeTables,
        query: Tensor,
        choices: Choices,
        leaf_projections: Tensor,
    ) -> None:
        B, T, N, H = sizes[0], len(sizes), sum(sizes), query.size(0)
        keep = tables.gates is not None
        R, K = num_rows(sizes, keep)
        self._noise = choices.noise if choices.merges is None else None
        self._sizes, self._like = sizes, query
        #: The pairs chosen so far, (B, T - 1); -1 elsewhere.
        self.merges = torch.full((B, T - 1), -1, dtype=torch.long, device="cpu")
        #: The roots of sentences whose last step has been run, and of those of one token.
        self.root_hidden, self.root_cell = tables.hidden[:B].clone(), tables.cell[:B].clone()
        #: Shape (B, H): h of the last step's parents.
        self.parents = query.new_empty(B, H)
        sizes_table = torch.tensor(sizes, device="cpu")  # which the C++ copies
        constants = query.new_tensor([choices.temperature, float(rounding_of_scores(query))])
        given = None if choices.merges is None else choices.merges[:, : T - 1].contiguous()
        parent_projections = query.new_empty(N - B, 10 * H) if keep else None
        query = query.contiguous()
        # The C++ has no references to the tables.
        self._tables = (tables, query, constants, given, leaf_projections, parent_projections)
        self._bound = _tree_steps.bind(
            *precision_and_threads(query),
            H,
            T,
            N,
            address(sizes_table, (T,), sizes_table),
            address(query, (H,), query),
            address(constants, (2,), query),
            address(given, (B, T - 1), self.merges),
            address(self.merges, (B, T - 1), self.merges),
            address(leaf_projections, (N, 10 * H), query),
            address(tables.hidden, (R, H), query),
            address(tables.cell, (R, H), query),
            address(tables.candidate_hidden, (K, H), query),
            address(tables.candidate_cell, (K, H), query),
            address(self.parents, (B, H), query),
            address(self.root_hidden, (B, H), query),
            address(self.root_cell, (B, H), query),
            address(parent_projections, (N - B, 10 * H), query),
            address(tables.gates, (K, 5 * H), query),
            address(tables.children, (K, 2), self.merges),
            address(tables.merged, (N - B, 3), self.merges),
            address(tables.relaxed, (num_relaxed(sizes),), query),
        )

    def run(self, step: int, projections: Optional[Tensor]) -> None:
        """Run a step; steps follow each other.

        `projections`, (n, 10H), are those of the parents of the step before, of `n` sentences with
        another merge; `None` in step 0.
        """
        noise = None if self._noise is None else self._noise[step]
        columns = 0 if noise is None else noise.size(1)
        shape = (self._sizes[step + 1], 10 * self._like.size(0))
        _tree_steps.run(
            self._bound,
            step,
            address(noise, (self._sizes[0], columns), self._like),
            columns,
            address(projections, shape, self._like),
        )
