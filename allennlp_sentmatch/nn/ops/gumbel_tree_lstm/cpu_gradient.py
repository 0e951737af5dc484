r"""The gradient of the composition: one pass over memory and one product per step.

The layers are undone from the root down. Each parent's gradient goes to its children by a product
of the cell's derivatives; all other nodes keep theirs. If the choices were sampled, they have a
gradient, too, through the scores of all candidates of their layer. With the gradient G of the next
layer's nodes r', the choice y of a layer has the gradient

    dy_j = candidate_j . G_j - sum_{m >= j} r_m . G_m + sum_{m > j} r_{m+1} . G_m
         = (candidate_j - r_j) . G_j + sum_{m > j} (r_{m+1} - r_m) . G_m                      (1)

and the gradient of candidate k's score, d_k, follows from the relaxation. A score q . h has one
vector D_k for each child of the candidate, the product of q with the candidate's Jacobian, and adds
d_k D_k to the child's gradient in every layer that the candidate is in.

Summed layer by layer, that is quadratic in vectors. Two regroupings make it linear:

- A node needs the sum over layers only: s_k D_k with s_k = sum of d_k, once k's last layer is done.
- The products of (1) are, for j left of the merged pair, those with the gradient of candidate j's
  left child, and right of it, with that of its right child. From layer to layer these gradients
  change by multiples of the vectors D of the candidate itself and of the neighboring candidate. So
  the products change by the same multiples of products that are constant as long as both
  candidates exist. All of these are numbers.

A merge creates and removes a constant number of candidates and neighborhoods, for which vectors
are multiplied. All other candidates cost a few additions of numbers. This is exactly the gradient
of the naive form, regrouped.

The derivatives of scores depend on no gradient, so that those of all candidates are taken at once.
The gradients of pre-activations are summed over all pairs of a node on either side, which are the
gradients of its projections: the weights' gradient has a row for each node, not each candidate.
"""

import ctypes
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common import native
from allennlp_sentmatch.nn.ops.common.native import Arguments, address, fields
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.tables import (
    TreeArguments,
    TreeGradients,
    TreeTables,
    num_relaxed,
    num_rows,
)
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.weights import TreeWeights

#: The candidates whose derivatives are taken at once, so that they stay in the processor's caches.
CHUNK = 512


def backward(
    backend: Backend,
    root: tuple[Tensor, Tensor],
    merges: Tensor,
    sizes: list[int],
    weights: TreeWeights,
    tables: TreeTables,
    temperature: float,
    needs: TreeGradients,
) -> TreeGradients:
    """Run the backward pass of `cpu.forward`.

    # Parameters

    backend : `Backend`
    root : `tuple[Tensor, Tensor]`
        Shape (B, H) each: the gradients of the roots' h and c.
    merges : `Tensor`
        Shape (B, T - 1).
    sizes : `list[int]`
    weights : `TreeWeights`
    tables : `TreeTables`
        Those of the forward pass.
    temperature : `float`
        The temperature of the relaxation.
    needs : `TreeGradients`
        Whether each of the gradients is needed. Without `weight`, that one is not computed.
    """
    linear, N = backend.products.linear, sum(sizes)
    transposed = backend.products.prepacked(weights.weight.t().contiguous())  # (2H, 5H)
    by_scores = None
    if tables.relaxed is not None:
        by_scores = _differentiate_scores(backend, tables, weights.query, transposed)
    steps = NativeGradient(
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
    backend: Backend, tables: TreeTables, query: Tensor, transposed: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the derivatives of all candidates' scores by both children's h and c, (K, 2H) each."""
    K, H = tables.candidate_hidden.shape
    by_hidden, by_cell = query.new_empty(2, K, 2 * H)
    query = query.contiguous()
    cells = Cells.of(tables, query, len(tables.cell), K)
    buffer = query.new_empty(native.num_threads(), H)
    pre_activations = query.new_empty(min(CHUNK, K), 5 * H)
    scores = Scores(
        query,
        cells=cells,
        by_cells=by_cell.data_ptr(),
        pre_activations=pre_activations.data_ptr(),
        buffer=buffer.data_ptr(),
    )
    for first in range(0, K, CHUNK):
        chunk = pre_activations[: K - first]
        scores.first, scores.n = first, len(chunk)
        scores.run("tree_scores")
        by_hidden[first : first + len(chunk)] = backend.products.linear(chunk, transposed)
    return by_hidden, by_cell


class Cells(ctypes.Structure):
    """The tables of the forward pass that the derivatives of the cell need."""

    _fields_ = fields("H", "query cell candidate_cell gates children")

    @classmethod
    def of(cls, tables: TreeTables, query: Tensor, R: int, K: int) -> "Cells":
        """Those of R nodes and K candidates."""
        H, rows_of_nodes = query.size(0), torch.empty(0, dtype=torch.long, device="cpu")
        return cls(
            H,
            address(query, (H,), query),
            address(tables.cell, (R, H), query),
            address(tables.candidate_cell, (K, H), query),
            address(tables.gates, (K, 5 * H), query),
            address(tables.children, (K, 2), rows_of_nodes),
        )


class Scores(Arguments):
    """The arguments for the derivatives of scores; native/_tree_gradient.cpp describes them."""

    _fields_ = [
        *fields("first n", ""),
        ("cells", Cells),
        *fields("", "by_cells pre_activations buffer"),
    ]


class Gradient(TreeArguments):
    """The arguments of a backward step."""

    _fields_ = [
        ("cells", Cells),
        *fields(
            "",
            "hidden candidate_hidden merges merged from_parents grad_root_hidden grad_root_cell "
            "grad_hidden grad_cell grad_projections pre_activations parents_cell buffer "
            "temperature relaxed_choices score_by_hidden score_by_cell grad_scores nodes columns",
        ),
    ]


class NativeGradient:
    """The compiled backward steps over their tables.

    # Parameters

    sizes : `list[int]`
        The number of sentences with more than t tokens, for T tokens.
    tables : `TreeTables`
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
        tables: TreeTables,
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
        constants = query.new_tensor([temperature])
        indices = merges.new_empty(B, T)
        # Of 15 words for each candidate of a layer; its six rows for each thread
        columns = merges.new_empty(B, T, 15)
        parents_cell = query.new_empty(B, H)
        buffer = query.new_empty(native.num_threads(), 6 * H)
        # The C++ has no references to the tables.
        self._tables = (tables, query, merges, root, by_scores, constants)
        self._buffers = (indices, columns, parents_cell, buffer)
        self._step = Gradient(
            query,
            cells=Cells.of(tables, query, R, K),
            hidden=address(tables.hidden, (R, H), query),
            candidate_hidden=address(tables.candidate_hidden, (K, H), query),
            merges=address(merges, (B, T - 1), indices),
            merged=address(tables.merged, (N - B, 3), indices),
            grad_root_hidden=address(root[0], (B, H), query),
            grad_root_cell=address(root[1], (B, H), query),
            grad_hidden=self.grad_hidden.data_ptr(),
            grad_cell=self.grad_cell.data_ptr(),
            grad_projections=self.grad_projections.data_ptr(),
            pre_activations=self.pre_activations.data_ptr(),
            parents_cell=parents_cell.data_ptr(),
            buffer=buffer.data_ptr(),
            temperature=constants.data_ptr(),
            relaxed_choices=address(tables.relaxed, (num_relaxed(sizes),), query),
            score_by_hidden=address(by_hidden, (K, 2 * H), query),
            score_by_cell=address(by_cell, (K, 2 * H), query),
            grad_scores=self.grad_scores.data_ptr(),
            nodes=indices.data_ptr(),
            columns=columns.data_ptr(),
        )
        self._step.set_layout(sizes, tables.hidden)

    def run(self, step: int, from_parents: Optional[Tensor]) -> None:
        """Run a step; steps follow each other from the last one to -1, which completes the leaves.

        `from_parents`, (n, 2H), are products of `pre_activations` of the step after this one, of
        `n` sentences, with W_comp; `None` in the last step.
        """
        x, following = self._step, [*self._sizes[1:], 0][step + 1]
        x.step, x.n = step, self._sizes[step + 1]
        shape = (following, 2 * self._tables[1].size(0))
        x.from_parents = address(from_parents, shape, self._tables[1])
        x.run("tree_backward")
