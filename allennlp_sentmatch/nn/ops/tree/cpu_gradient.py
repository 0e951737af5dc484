r"""The gradient of the composition by `cpu`: one pass over memory and one product per step.

The equations are those of `eager_gradient` and `choice_gradient`, with two products regrouped. The
derivatives of scores depend on no gradient, so that those of all candidates are taken at once. And
the gradients of pre-activations are summed over all pairs of a node on either side, which are the
gradients of its projections: the weights' gradient has a row for each node, not each candidate.
"""

from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import COMPILED, Backend
from allennlp_sentmatch.nn.ops.common.native_tables import address, precision_and_threads
from allennlp_sentmatch.nn.ops.tree.tables import (
    CPUTreeTables,
    Sentences,
    TreeGradients,
    num_relaxed,
    num_rows,
)
from allennlp_sentmatch.nn.ops.tree.weights import TreeWeights

if COMPILED:
    from allennlp_sentmatch.nn.ops.native import _tree_gradient

#: The candidates whose derivatives are taken at once, so that they stay in the processor's caches.
CHUNK = 512


def backward(
    backend: Backend,
    root: tuple[Tensor, Tensor],
    merges: Tensor,
    sentences: Sentences,
    weights: TreeWeights,
    saved: tuple[Tensor, ...],
    temperature: float,
    needs: TreeGradients,
) -> TreeGradients:
    """Compute `eager_gradient.backward`."""
    tables, sizes = CPUTreeTables(*saved), sentences.sizes
    linear, N = backend.products.linear, sum(sizes)
    transposed = backend.products.prepacked(weights.weight.t().contiguous())  # (2H, 5H)
    by_scores = None
    if tables.relaxed is not None:
        by_scores = _differentiate_scores(backend, tables, weights.query, transposed)
    steps = BoundSteps(
        sizes, tables, weights.query, merges, [x.contiguous() for x in root], by_scores, temperature
    )
    from_parents: Optional[Tensor] = None
    for step in range(len(sizes) - 2, -1, -1):
        steps.run(step, from_parents)
        pre_activations = steps.pre_activations[: sizes[step + 1]]  # (n, 5H)
        from_parents = linear(pre_activations, transposed)  # (n, 2H)
    steps.run(-1, from_parents)
    grad_projections = steps.grad_projections  # (R, 10H)
    grad_weight: Optional[Tensor] = None
    if needs.weight:
        # As its first argument is copied in another order, that should be the smaller one.
        by_child = backend.products.product_over_rows(tables.hidden, grad_projections).t()
        grad_weight = torch.cat(by_child.chunk(2), 1)  # (10H, H) -> (5H, 2H)
    return TreeGradients(
        hidden=steps.grad_hidden[:N],
        cell=steps.grad_cell[:N],
        weight=grad_weight,
        bias=grad_projections[:, : weights.bias.size(0)].sum(0),  # once for each pair
        query=None if by_scores is None else steps.grad_scores @ tables.candidate_hidden,
    )


def _differentiate_scores(
    backend: Backend, tables: CPUTreeTables, query: Tensor, transposed: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the derivatives of all candidates' scores by both children's h and c, (K, 2H) each."""
    K, H = tables.candidate_hidden.shape
    by_hidden, by_cell = query.new_empty(2, K, 2 * H)
    scores = BoundScores(tables, query, by_cell)
    pre_activations = query.new_empty(min(CHUNK, K), 5 * H)
    for first in range(0, K, CHUNK):
        chunk = pre_activations[: K - first]
        scores.run(first, chunk)
        by_hidden[first : first + len(chunk)] = backend.products.linear(chunk, transposed)
    return by_hidden, by_cell


class BoundScores:
    """The derivatives of candidates' scores over bound tables.

    # Parameters

    tables : `CPUTreeTables`
    query : `Tensor`
        Shape (H).
    by_cell : `Tensor`
        Shape (K, 2H): the derivatives by both children's c, which are written.

    # Raises

    `ValueError`
        If a table has the wrong shape, precision or device, or is not contiguous.
    """

    def __init__(self, tables: CPUTreeTables, query: Tensor, by_cell: Tensor) -> None:
        K, H = tables.candidate_hidden.shape
        query = query.contiguous()
        self._tables = (tables, query, by_cell)  # the C++ has no references to them
        self._bound = _tree_gradient.bind_scores(
            *precision_and_threads(query),
            *_cells(tables, query, len(tables.cell), K),
            K,
            address(by_cell, (K, 2 * H), query),
        )

    def run(self, first: int, pre_activations: Tensor) -> None:
        """Write the derivatives by the pre-activations (n, 5H) of candidates from `first` on."""
        n, like = len(pre_activations), self._tables[1]
        _tree_gradient.run(
            self._bound, first, n, address(pre_activations, (n, 5 * like.size(0)), like)
        )


class BoundSteps:
    """The backward steps over bound tables.

    # Parameters

    sizes : `list[int]`
        The number of sentences with more than t tokens, for T tokens.
    tables : `CPUTreeTables`
    query : `Tensor`
        Shape (H).
    merges : `Tensor`
        Shape (B, T - 1).
    root : `list[Tensor]`
        The gradients of the roots' h and c, (B, H) each.
    by_scores : `Optional[tuple[Tensor, Tensor]]`
        The derivatives of scores by both children's h and c, (K, 2H) each; `None` if choices were
        not sampled and so have no gradient.
    temperature : `float`
        The temperature of the relaxation.

    # Raises

    `ValueError`
        If a table has the wrong shape, precision or device, or is not contiguous.
    """

    def __init__(
        self,
        sizes: list[int],
        tables: CPUTreeTables,
        query: Tensor,
        merges: Tensor,
        root: list[Tensor],
        by_scores: Optional[tuple[Tensor, Tensor]],
        temperature: float,
    ) -> None:
        B, T, N = sizes[0], len(sizes), sum(sizes)
        H, (R, K) = query.size(0), num_rows(sizes, keep=True)
        query = query.contiguous()
        self._sizes = sizes
        #: The gradients of nodes: (R, H), (R, H) and (R, 10H).
        self.grad_hidden, self.grad_cell = query.new_empty(2, R, H)
        self.grad_projections = query.new_zeros(R, 10 * H)
        #: Shape (B, 5H): the gradients of the pre-activations of the last step's parents.
        self.pre_activations = query.new_empty(B, 5 * H)
        #: Shape (K): the gradients of candidates' scores.
        self.grad_scores = query.new_zeros(K)
        by_hidden, by_cell = (None, None) if by_scores is None else by_scores
        sizes_table = torch.tensor(sizes, device="cpu")  # which the C++ copies
        constants = query.new_tensor([temperature])
        # The C++ has no references to the tables.
        self._tables = (tables, query, merges, root, by_scores, constants)
        self._bound = _tree_gradient.bind_steps(
            *precision_and_threads(query),
            *_cells(tables, query, R, K),
            T,
            N,
            address(sizes_table, (T,), sizes_table),
            address(tables.hidden, (R, H), query),
            address(tables.candidate_hidden, (K, H), query),
            address(merges, (B, T - 1), sizes_table),
            address(tables.merged, (N - B, 3), sizes_table),
            *(address(x, (B, H), query) for x in root),
            address(self.grad_hidden, (R, H), query),
            address(self.grad_cell, (R, H), query),
            address(self.grad_projections, (R, 10 * H), query),
            address(self.pre_activations, (B, 5 * H), query),
            address(constants, (1,), query),
            address(tables.relaxed, (num_relaxed(sizes),), query),
            address(by_hidden, (K, 2 * H), query),
            address(by_cell, (K, 2 * H), query),
            address(self.grad_scores, (K,), query),
        )

    def run(self, step: int, from_parents: Optional[Tensor]) -> None:
        """Run a step; steps follow each other from the last one to -1, which completes the leaves.

        `from_parents`, (n, 2H), are products of `pre_activations` of the step after this one, of
        `n` sentences, with W_comp; `None` in the last step.
        """
        n = self._sizes[step + 2] if step + 2 < len(self._sizes) else 0
        like = self._tables[1]
        shape = (n, 2 * like.size(0))
        _tree_gradient.run(self._bound, step, address(from_parents, shape, like))


def _cells(tables: CPUTreeTables, query: Tensor, R: int, K: int) -> list[int]:
    """Return the arguments that both `bind` functions have in common."""
    H, rows_of_nodes = query.size(0), torch.empty(0, dtype=torch.long, device="cpu")
    return [
        H,
        address(query, (H,), query),
        address(tables.cell, (R, H), query),
        address(tables.candidate_cell, (K, H), query),
        address(tables.gates, (K, 5 * H), query),
        address(tables.children, (K, 2), rows_of_nodes),
    ]
