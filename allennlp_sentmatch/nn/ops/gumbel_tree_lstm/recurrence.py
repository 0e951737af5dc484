r"""The composition of each sentence's leaves into a tree.

`naive` holds the equations. `cpu` needs only a linear number of cell evaluations: a merge changes
two candidates, the parent's pairs with its neighbors, and all others are kept. As
W_comp [h_l; h_r] = W_l h_l + W_r h_r, each node is projected once for either side, and a candidate
costs only element-wise operations. A sentence leaves the batch after its last merge. The backward
pass, `cpu_gradient`, has the exact gradient of the naive form, in training through the copy masks
of all layers, too, and is linear in the same sense.
"""

from typing import Any, Optional

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.backends import Backend, Name, resolve
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward
from allennlp_sentmatch.nn.ops.common.packing import Packing, mask_of
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm import cpu, cpu_gradient, naive
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.choices import Choices
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.tables import TreeGradients, TreeTables
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.weights import TreeWeights

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "cpu")


def tree_recurrence(
    hidden: Tensor, cell: Tensor, mask: Optional[Tensor], weights: TreeWeights, choices: Choices
) -> tuple[Tensor, Tensor, Tensor]:
    """Compose each sentence's leaves into one node.

    # Parameters

    hidden, cell : `Tensor`
        Shape (B, T, H): the leaves.
    mask : `Optional[Tensor]`
        Shape (B, T), bool, right-padded. `None`: nothing is padding.
    weights : `TreeWeights`
    choices : `Choices`

    # Returns

    `tuple[Tensor, Tensor, Tensor]`
        The roots' h and c (B, H), and the merges (B, T - 1), as in `TreeComposition`.
    """
    backend = resolve("GumbelTreeLSTM", IMPLEMENTATIONS, hidden, *weights)
    if backend.name not in ("naive", "scan"):
        packing = Packing.of(hidden, mask, bidirectional=False)
        if len(packing.sizes) > 1:  # a sentence has a pair to merge
            return _packed(backend, packing, hidden, cell, weights, choices)
    is_scanned = backend.name == "scan" and choices.noise is None and hidden.size(1) > 0
    run = naive.scanned_recurrence if is_scanned else naive.tree_recurrence
    return run(hidden, cell, mask_of(hidden, mask), weights, choices)


def _packed(
    backend: Backend,
    packing: Packing,
    hidden: Tensor,
    cell: Tensor,
    weights: TreeWeights,
    choices: Choices,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute `tree_recurrence` over packed leaves."""
    order = packing.order
    choices = choices.of_sentences(order)
    arguments = (packing.pack(hidden)[0], packing.pack(cell)[0], *weights)
    if torch.is_grad_enabled() and any(x.requires_grad for x in arguments):
        root_hidden, root_cell, merges = _Composition.apply(  # type: ignore[no-untyped-call]
            backend, packing.sizes, choices, *arguments
        )
    else:
        root_hidden, root_cell, merges, _ = cpu.forward(
            backend, packing.sizes, arguments[0], arguments[1], weights, choices, keep=False
        )
    B, steps = hidden.size(0), hidden.size(1) - 1
    return (
        hidden.new_zeros(B, hidden.size(2)).index_copy(0, order, root_hidden),
        cell.new_zeros(B, cell.size(2)).index_copy(0, order, root_cell),
        merges.new_full((B, steps), -1).index_copy(
            0, order, F.pad(merges, (0, steps - merges.size(1)), value=-1)
        ),
    )


class _Composition(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        backend: Backend,
        sizes: list[int],
        choices: Choices,
        hidden: Tensor,
        cell: Tensor,
        *weights: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        root_hidden, root_cell, merges, tables = cpu.forward(
            backend, sizes, hidden, cell, TreeWeights(*weights), choices, keep=True
        )
        ctx.save_for_backward(merges, *weights, *tables)
        ctx.backend, ctx.sizes, ctx.temperature = backend, sizes, choices.temperature
        ctx.mark_non_differentiable(merges)
        return root_hidden, root_cell, merges

    @staticmethod
    @analytic_backward
    def backward(
        ctx: Any, root_hidden: Tensor, root_cell: Tensor, _: Tensor
    ) -> tuple[Optional[Tensor], ...]:
        merges, weight, bias, query, *tables = ctx.saved_tensors
        gradients = cpu_gradient.backward(
            ctx.backend,
            (root_hidden, root_cell),
            merges,
            ctx.sizes,
            TreeWeights(weight, bias, query),
            TreeTables(*tables),
            ctx.temperature,
            TreeGradients(*ctx.needs_input_grad[3:]),
        )
        return (None, None, None, *gradients)
