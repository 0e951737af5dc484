"""The steps of a layer of an LSTM or a CAS-LSTM, compiled for CPUs.

The element-wise part of a step is one pass over memory.
"""

from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerGradients, LayerTables
from allennlp_sentmatch.nn.ops.common.gated_steps import GatedLayer
from allennlp_sentmatch.nn.ops.common.native import num_threads


def forward(backend: Backend, tables: LayerTables) -> None:
    """Compute the gates, h and c, as `layer.py` says."""
    _layer(tables).forward(
        "lstm_forward",
        backend.products,
        tables.hidden,
        tables.parameters.weight_hh,
        first_step=tables.first_step,
    )


def backward(
    backend: Backend,
    tables: LayerTables,
    grads: LayerGradients,
) -> None:
    """Compute the gradients from the last step to the first, as `layer.py` says."""
    sizes = tables.sizes
    gates = tables.gates
    S, _, H = tables.hidden.shape
    grad_lower = grads.lower
    if grad_lower is None and tables.x.lower is not None:
        grad_lower = torch.empty_like(tables.x.lower)  # always written, even if not needed
    grad_cell = grads.cell
    if grad_cell is not None:
        grad_cell = grad_cell.contiguous()
    # The gradients of the cells from the next step.
    carried = gates.new_zeros(S, sizes[0], H)
    grad_left_weight = gates.new_zeros(S, num_threads(), H)
    layer = _layer(
        tables,
        {"carried": carried, "grad_left_weight": grad_left_weight},
        grad_hidden=grads.hidden.contiguous(),
        grad_cell=grad_cell,
        grad_gates=gates,
        grad_lower=grad_lower,
    )
    starts = layer.starts
    for s, weight in enumerate(tables.parameters.weight_hh):
        recurrent: Optional[Tensor] = None
        for t in reversed(range(tables.first_step, len(sizes))):
            left = starts[t - 1] if t > 0 else None
            layer.run("lstm_backward", s, t, left, recurrent)
            if t > tables.first_step:
                rows = slice(starts[t], starts[t + 1])
                grad_recurrent = gates[s, rows, : tables.recurrent_width]  # (n, R)
                recurrent = backend.products.linear(grad_recurrent, weight.t())  # (n, H)
    if grads.left_weight is not None:
        grads.left_weight.add_(grad_left_weight.sum(1, keepdim=True))
    if grads.initial_cell is not None:
        grads.initial_cell.copy_(carried)


def _layer(
    tables: LayerTables,
    of_directions: Optional[dict[str, Tensor]] = None,
    **of_tokens: Optional[Tensor],
) -> GatedLayer:
    """Return the compiled steps over a layer's tables.

    `of_directions` and `of_tokens` are the tables of the backward pass, as in `GatedLayer`.
    """
    S, _, H = tables.cell.shape
    ones = tables.cell.new_ones(S, 1, H)
    left_weight = ones * tables.parameters.left_weight
    peephole = tables.parameters.peephole_left
    if peephole is not None:
        peephole = peephole.contiguous()
    vectors = {"left_weight": left_weight.contiguous(), "peephole": peephole}
    vectors.update(of_directions or {})
    return GatedLayer(
        tables.sizes,
        tables.cell,
        vectors,
        x=tables.gates,
        gates=tables.gates,
        lower=tables.x.lower,
        hidden=tables.hidden,
        cell=tables.cell,
        **of_tokens,
    )
