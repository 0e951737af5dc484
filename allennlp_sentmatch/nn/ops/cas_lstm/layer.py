r"""A layer of an LSTM or a CAS-LSTM over packed sentences, with its gradient.

W x + b is one product over all steps. A step, forward or backward, is another product and an
element-wise part, both on adjacent rows; no autograd graph is built. The backward pass overwrites
the gates with the gradients of their arguments; then the gradients of x, W and U are one product
each over all steps. The backends differ only in the steps.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm import cpu, eager
from allennlp_sentmatch.nn.ops.cas_lstm.tables import (
    LayerGradients,
    LayerInputs,
    LayerParameters,
    LayerTables,
)
from allennlp_sentmatch.nn.ops.common.autograd import Gradients, differentiable, writable
from allennlp_sentmatch.nn.ops.common.packing import Packing

STEPS: dict[str, ModuleType] = {"eager": eager, "cpu": cpu}


def lstm_layer(
    backend: Backend, packing: Packing, x: LayerInputs, parameters: LayerParameters
) -> tuple[Tensor, Tensor]:
    """Run a layer by one of `STEPS`; return h and c, both (S, N, H)."""
    if x.lower is not None:
        if isinstance(parameters.lower_weight, Tensor):
            x = x._replace(lower=x.lower * parameters.lower_weight)
            parameters = parameters._replace(lower_weight=1.0)
        x = x._replace(lower=x.lower.contiguous())
    states: tuple[Tensor, Tensor] = differentiable(
        _forward, _backward, (backend, packing), (x, parameters)
    )
    return states


def _forward(
    backend: Backend, packing: Packing, arguments: tuple[LayerInputs, LayerParameters], keep: bool
) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, ...]]:
    x, parameters = arguments
    S, N, _ = x.inputs.shape
    R, H = parameters.weight_hh[0].shape
    gates = backend.products.affine(x.inputs, parameters.weight_ih, parameters.bias)
    if parameters.peephole_lower is not None:
        gates[..., R:].addcmul_(x.lower, parameters.peephole_lower)
    hidden, cell = gates.new_empty(2, S, N, H)
    if x.initial_hidden is not None:
        first = packing.num_sentences
        hidden[:, :first] = x.initial_hidden
        cell[:, :first] = x.initial_cell
    if N > 0:
        tables = LayerTables(packing.sizes, *arguments, gates, hidden, cell)
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
    x, parameters = arguments
    needed_inputs, needed_parameters = needed
    gates, hidden, cell = kept
    # The steps overwrite the gates with the gradients of their arguments.
    tables = LayerTables(packing.sizes, *arguments, writable(gates), hidden, cell)
    grads = _new_gradients(x, parameters, hidden, gradients, needed)
    if hidden.size(1) > 0:
        STEPS[backend.name].backward(backend, tables, grads)
    if x.initial_hidden is not None:  # no step was run for these rows
        first = packing.num_sentences
        tables.gates[:, :first] = 0
        if grads.lower is not None:
            grads.lower[:, :first] = 0
    if grads.lower is not None and parameters.peephole_lower is not None:
        grad_v = tables.gates[..., 4 * hidden.size(-1) :]  # (S, N, H)
        grads.lower.addcmul_(grad_v, parameters.peephole_lower)
    by_inputs = None
    if needed_inputs.inputs:
        by_inputs = backend.products.input_gradient(parameters.weight_ih, tables.gates)
    by_initial = None
    if needed_inputs.initial_hidden:
        by_initial = _initial_gradient(backend, packing, tables)
    return (
        LayerInputs(by_inputs, grads.lower, by_initial, grads.initial_cell),
        _parameter_gradients(backend, packing, tables, grads, needed_parameters),
    )


def _new_gradients(
    x: LayerInputs,
    parameters: LayerParameters,
    hidden: Tensor,
    gradients: Gradients,
    needed: tuple[LayerInputs, LayerParameters],
) -> LayerGradients:
    """Make the buffers that the steps of a backward pass fill."""
    needed_inputs, needed_parameters = needed
    grad_hidden, grad_cell = gradients
    needs_weight = needed_parameters.left_weight
    return LayerGradients(
        hidden=torch.zeros_like(hidden) if grad_hidden is None else grad_hidden,
        cell=grad_cell,
        lower=torch.empty_like(x.lower) if needed_inputs.lower else None,
        left_weight=torch.zeros_like(parameters.left_weight) if needs_weight else None,
        initial_cell=torch.empty_like(x.initial_cell) if needed_inputs.initial_cell else None,
    )


def _initial_gradient(backend: Backend, packing: Packing, tables: LayerTables) -> Tensor:
    """Return the gradient (S, B, H) of h before the first token, from the second step's gates."""
    weight_hh = tables.parameters.weight_hh
    gradient = torch.zeros_like(tables.x.initial_hidden)
    if len(packing.sizes) > 1:
        n = packing.sizes[1]
        start = packing.num_sentences  # the first row of the second step
        recurrent = tables.gates[:, start : start + n, : weight_hh[0].size(0)]
        gradient[:, :n] = backend.products.input_gradient(weight_hh, recurrent)
    return gradient


def _parameter_gradients(
    backend: Backend,
    packing: Packing,
    tables: LayerTables,
    grads: LayerGradients,
    needed: LayerParameters,
) -> LayerParameters:
    """Return the gradients of a layer's parameters from the gradients of the gates' arguments."""
    products = backend.products
    grad_gates = tables.gates  # (S, N, GH)
    R, H = tables.parameters.weight_hh[0].shape
    second = packing.num_sentences  # the first row of the second step
    grad_v = grad_gates[..., 4 * H :]  # (S, N, H), or without columns
    by_weight_ih: Sequence[Any] = [None] * len(grad_gates)
    if any(needed.weight_ih):
        by_weight_ih = products.weight_gradients(tables.x.inputs, grad_gates)
    by_weight_hh: Sequence[Any] = [None] * len(grad_gates)
    if any(needed.weight_hh):
        left = packing.previous(tables.hidden)
        by_weight_hh = products.weight_gradients(left, grad_gates[:, second:, :R])
    by_left = None
    if needed.peephole_left:
        by_left = (grad_v[:, second:] * packing.previous(tables.cell)).sum(1, keepdim=True)
    by_lower = None
    if needed.peephole_lower:
        by_lower = (grad_v * tables.x.lower).sum(1, keepdim=True)
    return LayerParameters(
        weight_ih=by_weight_ih,
        weight_hh=by_weight_hh,
        bias=grad_gates.sum(1),
        left_weight=grads.left_weight,
        lower_weight=None,  # a weight that is a number
        peephole_left=by_left,
        peephole_lower=by_lower,
    )
