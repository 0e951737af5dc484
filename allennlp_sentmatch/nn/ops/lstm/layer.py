r"""A layer of an LSTM or a CAS-LSTM over packed sentences, with its gradient.

With x the inputs, lower the cells of the layer below, and a row for each sentence, a step computes

    [i; f; g; o; v] = [sigmoid; sigmoid; tanh; sigmoid; sigmoid](W x_t + b + U h_{t-1})
    c_t = i * g + left_weight * f * c_{t-1} + lower_weight * v * lower_t
    h_t = o * tanh(c_t)

where v and lower are left out in an LSTM. In the peephole variant the argument of v has
peephole_left * c_{t-1} + peephole_lower * lower_t in place of a block of U h_{t-1}.

W x + b is one product over all steps. A step is one more product and, on rows side by side, what is
element-wise; no autograd graph is built. The backward pass goes back through the steps in the same
way and writes to where the gates lay; the gradients of x, W and U are one product each over all
steps.

The backends differ in the steps, forward and backward: `gpu` and `cpu` do what is element-wise in
one pass, `eager` in a few operations of torch.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Optional, Union

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward, writable
from allennlp_sentmatch.nn.ops.common.packing import Packing
from allennlp_sentmatch.nn.ops.common.products import affine, input_gradient, weight_gradients
from allennlp_sentmatch.nn.ops.lstm import cpu, eager, gpu

STEPS: dict[str, ModuleType] = {"eager": eager, "cpu": cpu, "gpu": gpu}


def lstm_layer(
    backend: Backend,
    inputs: Tensor,
    weight_ih: Sequence[Tensor],
    weight_hh: Sequence[Tensor],
    bias: Tensor,
    packing: Packing,
    lower: Optional[Tensor] = None,
    left_weight: Union[Tensor, float] = 1.0,
    lower_weight: Union[Tensor, float] = 1.0,
    peephole_left: Optional[Tensor] = None,
    peephole_lower: Optional[Tensor] = None,
) -> tuple[Tensor, Tensor]:
    """Read packed sentences in S directions side by side.

    # Parameters

    backend : `Backend`
        One of `STEPS`.
    inputs : `Tensor`
        Shape (S, N, D).
    weight_ih, weight_hh : `Sequence[Tensor]`
        W (GH, D) and U (GH, H) for each direction, their blocks in the order i, f, g, o, and with
        `lower` v. With peepholes U is without block v.
    bias : `Tensor`
        Shape (S, GH).
    packing : `Packing`
        Of the N tokens.
    lower : `Tensor`, optional (default = `None`)
        Shape (S, N, H).
    left_weight, lower_weight : `Union[Tensor, float]`, optional (default = `1.0`)
        A number or of shape (S, 1, H). With peepholes `lower_weight` is 1.
    peephole_left, peephole_lower : `Tensor`, optional (default = `None`)
        Shape (S, 1, H): both or none.

    # Returns

    `Tuple[Tensor, Tensor]`
        h and c, both (S, N, H).
    """
    if isinstance(lower_weight, Tensor):
        lower, lower_weight = None if lower is None else lower * lower_weight, 1.0
    lower = None if lower is None else lower.contiguous()
    others = (inputs, bias, lower, left_weight, lower_weight, peephole_left, peephole_lower)
    tensors = [x for x in (*others, *weight_ih, *weight_hh) if isinstance(x, Tensor)]
    if torch.is_grad_enabled() and any(x.requires_grad for x in tensors):
        hidden, cell = _LSTMLayer.apply(  # type: ignore[no-untyped-call]
            backend, packing, *others, *weight_ih, *weight_hh
        )
    else:
        hidden, cell, _ = _read(backend, packing, weight_ih, weight_hh, *others)
    return hidden, cell


def _read(
    backend: Backend,
    packing: Packing,
    weight_ih: Sequence[Tensor],
    weight_hh: Sequence[Tensor],
    inputs: Tensor,
    bias: Tensor,
    lower: Optional[Tensor],
    left_weight: Union[Tensor, float],
    lower_weight: float,
    peephole_left: Optional[Tensor],
    peephole_lower: Optional[Tensor],
) -> tuple[Tensor, Tensor, Tensor]:
    """h, c and the gates, each (S, N, ...)."""
    S, N, _ = inputs.shape
    R, H = weight_hh[0].shape
    gates = affine(inputs, weight_ih, bias)
    if lower is not None and peephole_lower is not None:
        gates[..., R:].addcmul_(lower, peephole_lower)
    hidden, cell = gates.new_empty(2, S, N, H)
    tables = (gates, hidden, cell, lower)
    STEPS[backend.name].read_steps(
        packing.sizes, weight_hh, *tables, left_weight, lower_weight, peephole_left
    )
    return hidden, cell, gates


class _LSTMLayer(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        backend: Backend,
        packing: Packing,
        inputs: Tensor,
        bias: Tensor,
        lower: Optional[Tensor],
        left_weight: Union[Tensor, float],
        lower_weight: float,
        peephole_left: Optional[Tensor],
        peephole_lower: Optional[Tensor],
        *weights: Tensor,
    ) -> tuple[Tensor, Tensor]:
        weight_ih, weight_hh = weights[: len(inputs)], weights[len(inputs) :]
        others = (inputs, bias, lower, left_weight, lower_weight, peephole_left, peephole_lower)
        hidden, cell, gates = _read(backend, packing, weight_ih, weight_hh, *others)
        ctx.backend, ctx.packing = backend, packing
        ctx.left_weight = left_weight if isinstance(left_weight, float) else None
        ctx.lower_weight = lower_weight
        ctx.save_for_backward(
            inputs,
            lower,
            None if isinstance(left_weight, float) else left_weight,
            peephole_left,
            peephole_lower,
            hidden,
            cell,
            gates,
            *weights,
        )
        ctx.set_materialize_grads(False)
        return hidden, cell

    @staticmethod
    @analytic_backward
    def backward(
        ctx: Any, grad_hidden: Optional[Tensor], grad_cell: Optional[Tensor]
    ) -> tuple[Optional[Tensor], ...]:
        inputs, lower, left_weight, peephole_left, peephole_lower, *rest = ctx.saved_tensors
        hidden, cell, gates, *weights = rest
        S = len(inputs)
        weight_ih, weight_hh = weights[:S], weights[S:]
        packing: Packing = ctx.packing
        R, H = weight_hh[0].shape
        needs = ctx.needs_input_grad
        grad_gates = writable(gates)  # (S, N, GH)
        grad_lower = torch.empty_like(lower) if needs[4] else None
        grad_left_weight = torch.zeros_like(left_weight) if needs[5] else None
        left_weight = ctx.left_weight if left_weight is None else left_weight
        if grad_hidden is None:
            grad_hidden = torch.zeros_like(hidden)
        STEPS[ctx.backend.name].read_back(
            packing.sizes,
            weight_hh,
            hidden,
            cell,
            grad_hidden,
            grad_cell,
            grad_gates,
            lower,
            left_weight,
            ctx.lower_weight,
            peephole_left,
            grad_lower,
            grad_left_weight,
        )
        first = packing.sizes[0]
        v = grad_gates[..., 4 * H :]
        grads: list[Optional[Tensor]] = [None] * len(needs)
        if needs[2]:
            grads[2] = input_gradient(weight_ih, grad_gates)
        if needs[3]:
            grads[3] = grad_gates.sum(1)
        if grad_lower is not None:
            if peephole_lower is not None:
                grad_lower.addcmul_(v, peephole_lower)
            grads[4] = grad_lower
        grads[5] = grad_left_weight
        if needs[7]:
            grads[7] = (v[:, first:] * packing.previous(cell)).sum(1, keepdim=True)
        if needs[8]:
            grads[8] = (v * lower).sum(1, keepdim=True)
        if any(needs[9 : 9 + S]):
            grads[9 : 9 + S] = weight_gradients(inputs, grad_gates)
        if any(needs[9 + S :]):
            left_hidden = packing.previous(hidden)
            grads[9 + S :] = weight_gradients(left_hidden, grad_gates[:, first:, :R])
        return tuple(grads)
