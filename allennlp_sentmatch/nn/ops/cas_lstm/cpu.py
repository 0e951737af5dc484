"""The steps of a layer compiled for CPUs, each a product and one pass over memory."""

from typing import Optional, Union

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerGradients, LayerTables
from allennlp_sentmatch.nn.ops.common.gated_steps import GatedLayer
from allennlp_sentmatch.nn.ops.common.native import num_threads


def forward(backend: Backend, tables: LayerTables) -> None:
    """Run the forward pass; see `eager.forward`."""
    sizes = tables.sizes
    hidden = tables.hidden
    layer = _layer(tables)
    starts = layer.starts
    for s, weight in enumerate(map(backend.products.prepacked, tables.parameters.weight_hh)):
        if tables.first_step == 0:
            layer.run("lstm_forward", s, 0, None, None)
        for t in range(1, len(sizes)):
            left = starts[t - 1]
            recurrent = backend.products.linear(hidden[s, left : left + sizes[t]], weight)  # (n, R)
            layer.run("lstm_forward", s, t, left, recurrent)


def backward(backend: Backend, tables: LayerTables, grads: LayerGradients) -> None:
    """Run the backward pass; see `eager.backward`."""
    sizes = tables.sizes
    gates = tables.gates
    S, _, H = tables.hidden.shape
    R = tables.parameters.weight_hh[0].size(0)
    grad_lower = grads.lower
    if grad_lower is None and tables.x.lower is not None:
        grad_lower = torch.empty_like(tables.x.lower)  # always written, even if not needed
    # The gradients of the cells from the next step.
    carried = gates.new_zeros(S, sizes[0], H)
    grad_left_weight = gates.new_zeros(S, num_threads(), H)
    layer = _layer(
        tables,
        {"carried": carried, "grad_left_weight": grad_left_weight},
        grad_hidden=grads.hidden.contiguous(),
        grad_cell=None if grads.cell is None else grads.cell.contiguous(),
        grad_gates=gates,
        grad_lower=grad_lower,
    )
    starts = layer.starts
    for s, weight in enumerate(tables.parameters.weight_hh):
        recurrent: Optional[Tensor] = None
        for t in range(len(sizes) - 1, tables.first_step - 1, -1):
            layer.run("lstm_backward", s, t, starts[t - 1] if t > 0 else None, recurrent)
            if t > tables.first_step:
                after = gates[s, starts[t] : starts[t + 1], :R]
                recurrent = backend.products.linear(after, weight.t())  # (n, H)
    if grads.left_weight is not None:
        grads.left_weight.add_(grad_left_weight.sum(1, keepdim=True))
    if grads.initial_cell is not None:
        grads.initial_cell.copy_(carried)


def _layer(
    tables: LayerTables,
    of_directions: Optional[dict[str, Tensor]] = None,
    **of_tokens: Optional[Tensor],
) -> GatedLayer:
    """Return the compiled steps over a layer's tables and the tables of its backward pass."""

    def vector(weight: Union[Tensor, float, None]) -> Optional[Tensor]:
        """Return a weight, a number or (S, 1, H), as a contiguous (S, 1, H)."""
        if isinstance(weight, float):
            S, _, H = tables.cell.shape
            return tables.cell.new_full((S, 1, H), weight)
        return None if weight is None else weight.contiguous()

    return GatedLayer(
        tables.sizes,
        tables.cell,
        {
            "left_weight": vector(tables.parameters.left_weight),
            "lower_weight": vector(tables.parameters.lower_weight),
            "peephole": vector(tables.parameters.peephole_left),
            **(of_directions or {}),
        },
        x=tables.gates,
        gates=tables.gates,
        lower=tables.x.lower,
        hidden=tables.hidden,
        cell=tables.cell,
        **of_tokens,
    )
