r"""The composition of each sentence's leaves into a tree.

`naive` holds the equations. `eager` needs only a linear number of cell evaluations: a merge changes
two candidates, the parent's pairs with its neighbors, and all others are kept. As W_comp [h_l; h_r]
= W_l h_l + W_r h_r, each node is projected once for either side, and a candidate costs only
element-wise operations. A sentence leaves the batch after its last merge. The backward pass, in
`eager_gradient`, has the exact gradient of the naive form, in training through the copy masks of
all layers, too, and is linear in the same sense.
"""

from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.backends import Backend, Name, resolve
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward
from allennlp_sentmatch.nn.ops.common.packing import Packing
from allennlp_sentmatch.nn.ops.tree import eager, eager_gradient, naive, scanned
from allennlp_sentmatch.nn.ops.tree.arguments import Choices, Weights
from allennlp_sentmatch.nn.ops.tree.eager import Nodes, Sentences

BACKENDS: tuple[Name, ...] = ("naive", "scan", "eager")


def compose(
    hidden: Tensor, cell: Tensor, mask: Tensor, weights: Weights, choices: Choices
) -> tuple[Tensor, Tensor, Tensor]:
    """Compose each sentence's leaves into one node.

    # Parameters

    hidden, cell : `Tensor`
        Shape (B, T, H): the leaves.
    mask : `Tensor`
        Shape (B, T), bool, right-padded.
    weights : `Weights`
    choices : `Choices`

    # Returns

    `Tuple[Tensor, Tensor, Tensor]`
        The roots' h and c (B, H), and the merges (B, T - 1), as in `TreeComposition`.
    """
    backend = resolve("GumbelTreeLSTM", BACKENDS, hidden, *weights)
    if backend.name == "scan" and choices.noise is None and hidden.size(1) > 0:
        return scanned.compose(hidden, cell, mask, weights, choices)
    if backend.name in ("naive", "scan"):
        return naive.compose(hidden, cell, mask, weights, choices)
    packing = Packing.of(mask, bidirectional=False)
    if len(packing.sizes) < 2:  # no sentence has a pair to merge
        return naive.compose(hidden, cell, mask, weights, choices)
    return _packed(backend, packing, hidden, cell, mask, weights, choices)


def _packed(
    backend: Backend,
    packing: Packing,
    hidden: Tensor,
    cell: Tensor,
    mask: Tensor,
    weights: Weights,
    choices: Choices,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute `compose` over packed leaves."""
    order = packing.order
    sentences = Sentences(mask.sum(1)[order], packing.sizes)
    choices = choices.of_sentences(order)
    arguments = (packing.pack(hidden)[0], packing.pack(cell)[0], *weights)
    if torch.is_grad_enabled() and any(x.requires_grad for x in arguments):
        root_hidden, root_cell, merges = _Composition.apply(  # type: ignore[no-untyped-call]
            backend, sentences, choices, *arguments
        )
    else:
        trace = eager.forward(
            backend, sentences, arguments[0], arguments[1], weights, choices, keep=False
        )
        root_hidden, root_cell, merges = trace.root_hidden, trace.root_cell, trace.merges
    B, steps = mask.size(0), mask.size(1) - 1
    return (
        hidden.new_zeros(B, hidden.size(2)).index_copy(0, order, root_hidden),
        cell.new_zeros(B, cell.size(2)).index_copy(0, order, root_cell),
        merges.new_full((B, steps), -1).index_copy(
            0, order, F.pad(merges, (0, steps - merges.size(1)), value=-1)
        ),
    )


class _Saved(NamedTuple):
    """The tensors that the backward pass needs, except for the relaxed choices."""

    states: Tensor
    projected: Tensor
    merges: Tensor
    lengths: Tensor
    weight: Tensor
    bias: Tensor
    query: Tensor


class _Composition(torch.autograd.Function):
    """The composition by `eager`."""

    @staticmethod
    def forward(
        ctx: Any,
        backend: Backend,
        sentences: Sentences,
        choices: Choices,
        hidden: Tensor,
        cell: Tensor,
        *weights: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        trace = eager.forward(
            backend, sentences, hidden, cell, Weights(*weights), choices, keep=True
        )
        saved = _Saved(*trace.nodes, trace.merges, sentences.lengths, *weights)
        ctx.save_for_backward(*saved, *trace.relaxed)
        ctx.backend = backend
        ctx.sizes, ctx.temperature = sentences.sizes, choices.temperature
        ctx.mark_non_differentiable(trace.merges)
        return trace.root_hidden, trace.root_cell, trace.merges

    @staticmethod
    @analytic_backward
    def backward(
        ctx: Any, root_hidden: Tensor, root_cell: Tensor, _: Tensor
    ) -> tuple[Optional[Tensor], ...]:
        num_saved = len(_Saved._fields)
        saved, relaxed = _Saved(*ctx.saved_tensors[:num_saved]), ctx.saved_tensors[num_saved:]
        gradients = eager_gradient.backward(
            ctx.backend,
            torch.cat([root_hidden, root_cell], 1),
            Nodes(saved.states, saved.projected),
            saved.merges,
            Sentences(saved.lengths, ctx.sizes),
            Weights(saved.weight, saved.bias, saved.query),
            list(relaxed),
            ctx.temperature,
        )
        return (
            None,
            None,
            None,
            gradients.hidden,
            gradients.cell,
            gradients.weight,
            gradients.bias,
            gradients.query,
        )
