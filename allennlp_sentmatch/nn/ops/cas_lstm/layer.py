r"""A layer of an LSTM or a CAS-LSTM over packed sentences, with its gradient.

W x + b is one product over all steps. A step, forward or backward, is one more product and an
element-wise part, both on rows side by side; no autograd graph is built. The backward pass
overwrites the gates with the gradients of their arguments; then the gradients of x, W and U are
one product each over all steps. The backends differ in the steps only.
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
    grad_hidden, grad_cell = gradients
    tables = LayerTables(packing.sizes, *arguments, writable(gates), hidden, cell)
    grads = LayerGradients(
        hidden=torch.zeros_like(hidden) if grad_hidden is None else grad_hidden,
        cell=grad_cell,
        lower=torch.empty_like(x.lower) if needed_inputs.lower else None,
        left_weight=torch.zeros_like(parameters.left_weight)
        if needed_parameters.left_weight
        else None,
        initial_cell=torch.empty_like(x.initial_cell) if needed_inputs.initial_cell else None,
    )
    if hidden.size(1) > 0:
        STEPS[backend.name].backward(backend, tables, grads)
    products = backend.products
    grad_gates = tables.gates  # (S, N, GH), of their arguments
    R, H = parameters.weight_hh[0].shape
    first = packing.num_sentences  # the first row of the second step
    if x.initial_hidden is not None:  # no step was run in their rows
        grad_gates[:, :first] = 0
        if grads.lower is not None:
            grads.lower[:, :first] = 0
    grad_v = grad_gates[..., 4 * H :]  # (S, N, H), or without columns
    if grads.lower is not None and parameters.peephole_lower is not None:
        grads.lower.addcmul_(grad_v, parameters.peephole_lower)
    by_inputs = by_initial = by_left = by_lower = None
    by_weight_ih: Sequence[Any] = [None] * len(hidden)
    by_weight_hh: Sequence[Any] = [None] * len(hidden)
    if needed_inputs.inputs:
        by_inputs = products.input_gradient(parameters.weight_ih, grad_gates)
    if needed_inputs.initial_hidden:
        by_initial = torch.zeros_like(x.initial_hidden)  # (S, B, H)
        if len(packing.sizes) > 1:
            n = packing.sizes[1]
            by_initial[:, :n] = products.input_gradient(
                parameters.weight_hh, grad_gates[:, first : first + n, :R]
            )
    if needed_parameters.peephole_left:
        by_left = (grad_v[:, first:] * packing.previous(cell)).sum(1, keepdim=True)
    if needed_parameters.peephole_lower:
        by_lower = (grad_v * x.lower).sum(1, keepdim=True)
    if any(needed_parameters.weight_ih):
        by_weight_ih = products.weight_gradients(x.inputs, grad_gates)
    if any(needed_parameters.weight_hh):
        left = packing.previous(hidden)
        by_weight_hh = products.weight_gradients(left, grad_gates[:, first:, :R])
    grad_inputs = LayerInputs(by_inputs, grads.lower, by_initial, grads.initial_cell)
    return grad_inputs, LayerParameters(
        weight_ih=by_weight_ih,
        weight_hh=by_weight_hh,
        bias=grad_gates.sum(1),
        left_weight=grads.left_weight,
        lower_weight=None,  # a number here
        peephole_left=by_left,
        peephole_lower=by_lower,
    )
