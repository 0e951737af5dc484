r"""A layer of an LSTM or a CAS-LSTM over packed sentences, and its derivative.

W x + b is one product over all steps. A step, forward or backward, is one more product and an
element-wise part, both on adjacent rows; no autograd graph is built. The backward pass
overwrites the gates with the gradients of their arguments; then the gradients of x, W and U are
one product each over all steps.

The steps have two implementations: `cpu.py`, which is compiled, and `eager.py`. In each, `forward`
turns W x + b into the gates, and computes h and c. `backward` turns the gates into the gradients of
their arguments, and fills the buffers of the gradients. Both leave the rows before
`LayerTables.first_row` as they are.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm import cpu, eager
from allennlp_sentmatch.nn.ops.cas_lstm.naive import LayerWeights
from allennlp_sentmatch.nn.ops.cas_lstm.tables import (
    LayerGradients,
    LayerInputs,
    LayerParameters,
    LayerTables,
)
from allennlp_sentmatch.nn.ops.common.autograd import Gradients, differentiable, writable
from allennlp_sentmatch.nn.ops.common.packing import Packing
from allennlp_sentmatch.nn.ops.common.products import stack

#: The steps by the name of a backend.
STEPS: dict[str, ModuleType] = {"cpu": cpu, "eager": eager}


def lstm_layer(
    backend: Backend,
    packing: Packing,
    x: LayerInputs,
    directions: Sequence[LayerWeights],
) -> tuple[Tensor, Tensor]:
    """Run a layer by one of `STEPS`, over packed inputs `x` in as many `directions`.

    `x.lower` are the cells of the layer below, not yet weighted. Return h and c, (S, N, H) each.
    """
    weight_ih, weight_hh, bias, left, lower, peephole_left, peephole_lower = zip(*directions)
    if x.lower is not None:
        weighted_cells = x.lower * _side_by_side(lower)
        x = x._replace(lower=weighted_cells)
    parameters = LayerParameters(
        weight_ih=list(weight_ih),
        weight_hh=list(weight_hh),
        bias=stack(bias),
        left_weight=_side_by_side(left),
        peephole_left=_side_by_side(peephole_left),
        peephole_lower=_side_by_side(peephole_lower),
    )
    states: tuple[Tensor, Tensor] = differentiable(
        _forward,
        _backward,
        (backend, packing),
        (x, parameters),
    )
    return states


def _side_by_side(vectors: Sequence[Any]) -> Any:
    """Stack the vectors (H) of S directions to (S, 1, H).

    Return a number or `None`, which all directions share, without a change.
    """
    if isinstance(vectors[0], Tensor):
        return stack(vectors).unsqueeze(1)
    return vectors[0]


def _forward(
    backend: Backend,
    packing: Packing,
    arguments: tuple[LayerInputs, LayerParameters],
    keep: bool,
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, ...]]:
    """Return h and c, (S, N, H) each, and the tables that `_backward` needs: gates, h and c."""
    x, parameters = arguments
    S, N, _ = x.inputs.shape
    R, H = parameters.weight_hh[0].shape
    gates = backend.products.affine(x.inputs, parameters.weight_ih, parameters.bias)
    if parameters.peephole_lower is not None:
        gates[..., R:].addcmul_(x.lower, parameters.peephole_lower)
    hidden, cell = gates.new_empty(2, S, N, H)
    tables = LayerTables(packing, x, parameters, gates, hidden, cell)
    if x.initial is not None:
        hidden[:, : tables.first_row] = x.initial[0]
        cell[:, : tables.first_row] = x.initial[1]
    if N > 0:
        STEPS[backend.name].forward(backend, tables)
    return (hidden, cell), (gates, hidden, cell)


def _backward(
    backend: Backend,
    packing: Packing,
    arguments: tuple[LayerInputs, LayerParameters],
    kept: tuple[Tensor, Tensor, Tensor],
    gradients: Gradients,
    needed: tuple[LayerInputs, LayerParameters],
) -> tuple[LayerInputs, LayerParameters]:
    """Return the gradients of the arguments of `_forward`.

    `kept` are the tables from `_forward`, `gradients` the incoming gradients of h and c, and
    `needed` says which gradients are needed, as in `differentiable`.
    """
    x, parameters = arguments
    needed_inputs, needed_parameters = needed
    gates, hidden, cell = kept
    # The steps overwrite the gates with the gradients of their arguments.
    grad_gates = writable(gates)
    tables = LayerTables(packing, x, parameters, grad_gates, hidden, cell)
    grads = _new_gradients(tables, gradients, needed)
    if hidden.size(1) > 0:
        STEPS[backend.name].backward(backend, tables, grads)
    before = slice(tables.first_row)
    grad_gates[:, before] = 0  # no step was run for these rows
    if grads.lower is not None:
        grads.lower[:, before] = 0
        if parameters.peephole_lower is not None:
            grad_v = grad_gates[..., tables.recurrent_width :]  # (S, N, H)
            grads.lower.addcmul_(grad_v, parameters.peephole_lower)
    by_inputs = None
    if needed_inputs.inputs:
        by_inputs = backend.products.input_gradient(parameters.weight_ih, grad_gates)
    by_initial = None
    if grads.initial_cell is not None:
        initial_hidden = _initial_gradient(backend, tables)
        by_initial = torch.stack([initial_hidden, grads.initial_cell])
    by_parameters = _parameter_gradients(backend, tables, grads, needed_parameters)
    return LayerInputs(by_inputs, grads.lower, by_initial), by_parameters


def _new_gradients(
    tables: LayerTables,
    gradients: Gradients,
    needed: tuple[LayerInputs, LayerParameters],
) -> LayerGradients:
    """Make the buffers that the steps of a backward pass fill, as far as they are needed.

    `gradients` are the incoming gradients of h and c, (S, N, H) each, or `None`.
    """
    x = tables.x
    left_weight = tables.parameters.left_weight
    needed_inputs, needed_parameters = needed
    grad_hidden, grad_cell = gradients
    return LayerGradients(
        hidden=torch.zeros_like(tables.hidden) if grad_hidden is None else grad_hidden,
        cell=grad_cell,
        lower=torch.empty_like(x.lower) if needed_inputs.lower else None,
        left_weight=torch.zeros_like(left_weight) if needed_parameters.left_weight else None,
        initial_cell=torch.empty_like(x.initial[1]) if needed_inputs.initial else None,
    )


def _initial_gradient(backend: Backend, tables: LayerTables) -> Tensor:
    """Return the gradient (S, B, H) of h before the first token, from the second step's gates.

    Sentences without a second step have a gradient of zero.
    """
    gradient = torch.zeros_like(tables.x.initial[0])
    if len(tables.sizes) > 1:
        n = tables.sizes[1]
        start = tables.first_row
        recurrent = tables.gates[:, start : start + n, : tables.recurrent_width]
        weight_hh = tables.parameters.weight_hh
        gradient[:, :n] = backend.products.input_gradient(weight_hh, recurrent)
    return gradient


def _parameter_gradients(
    backend: Backend,
    tables: LayerTables,
    grads: LayerGradients,
    needed: LayerParameters,
) -> LayerParameters:
    """Return the gradients of a layer's parameters.

    The tables have the gradients of the gates' arguments, which the steps have computed, in place
    of the gates; `grads` has the gradient of the left weight. Gradients that are not `needed` may
    be `None`.
    """
    products = backend.products
    packing = tables.packing
    grad_gates = tables.gates
    H = tables.hidden.size(-1)
    grad_later = grad_gates[:, packing.num_sentences :]  # the steps that have one before them
    by_weight_ih: Sequence[Any] = [None] * len(grad_gates)
    if any(needed.weight_ih):
        by_weight_ih = products.weight_gradients(tables.x.inputs, grad_gates)
    by_weight_hh: Sequence[Any] = [None] * len(grad_gates)
    if any(needed.weight_hh):
        left = packing.previous(tables.hidden)
        grad_recurrent = grad_later[..., : tables.recurrent_width]
        by_weight_hh = products.weight_gradients(left, grad_recurrent)
    by_left = None
    if needed.peephole_left:
        left_cell = packing.previous(tables.cell)
        by_row = grad_later[..., 4 * H :] * left_cell
        by_left = by_row.sum(1, keepdim=True)
    by_lower = None
    if needed.peephole_lower:
        by_row = grad_gates[..., 4 * H :] * tables.x.lower  # (S, N, H)
        by_lower = by_row.sum(1, keepdim=True)
    return LayerParameters(
        weight_ih=by_weight_ih,
        weight_hh=by_weight_hh,
        bias=grad_gates.sum(1),
        left_weight=grads.left_weight,
        peephole_left=by_left,
        peephole_lower=by_lower,
    )
