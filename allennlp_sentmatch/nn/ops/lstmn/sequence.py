r"""The LSTMN's recurrence over packed sentences, with an analytic backward pass.

A token's key W_h h_i is projected once, when its state goes on the tapes. One product of h~ serves
the gates of its own step and the attention of the next. As tanh(x) = 2 sigmoid(2x) - 1 and as a
softmax does not depend on what is added to all scores, the scores are computed as

    a_i = 2 v . sigmoid(2 W_h h_i + 2 (W_x x_t + W_h~ h~_{t-1}))

The backward pass mirrors the forward pass and writes to where the gates lay; the weights' gradients
are one product each over all steps. The backends differ in the steps, forward and backward.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward, writable
from allennlp_sentmatch.nn.ops.common.packing import Packing
from allennlp_sentmatch.nn.ops.common.products import affine, input_gradient, weight_gradient
from allennlp_sentmatch.nn.ops.lstmn import cpu, eager
from allennlp_sentmatch.nn.ops.lstmn.eager import Reading, Weights

STEPS: dict[str, ModuleType] = {"eager": eager, "cpu": cpu}


def read(
    backend: Backend,
    inputs: Tensor,
    mask: Tensor,
    directions: Sequence[Weights],
    initial_state: Optional[Tensor] = None,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Read sentences in one direction or in two.

    # Parameters

    backend : `Backend`
        One of `STEPS`.
    inputs : `Tensor`
        Shape (B, T, D).
    mask : `Tensor`
        Shape (B, T), right-padded, with at least one token.
    directions : `Sequence[Weights]`
        Of the S directions, left-to-right first.
    initial_state : `Tensor`, optional (default = zeros)
        Shape (2, S, B, H): h~ and c~ of the first step.

    # Returns

    `Tuple[Tensor, Tensor, List[Tensor]]`
        The tapes, each (B, T, S * H) and zero at padding; and each direction's attention
        (B, T, T), rows and columns in the order of its reading.
    """
    B, T = mask.shape
    packing = Packing.of(mask, bidirectional=len(directions) == 2)
    first_tokens = packing.places[0, : packing.sizes[0]]
    order = torch.div(first_tokens, T, rounding_mode="floor")  # of the sentences, longest first
    weights = [
        same[0].unsqueeze(0) if len(same) == 1 else torch.stack(same) for same in zip(*directions)
    ]
    tensors: tuple[Any, ...] = (
        packing.pack(inputs),
        None if initial_state is None else initial_state[:, :, order],
        *weights,
    )
    if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in tensors):
        hidden, cell, attention = _Reading.apply(  # type: ignore[no-untyped-call]
            backend, packing, *tensors
        )
    else:
        _, _, (hidden, cell, attention, *_) = _read(backend, packing.sizes, *tensors)
    S, longest = attention.size(0), attention.size(-1)
    by_sentence = attention.new_zeros(S, B, T, T)
    by_sentence[:, order, :longest, :longest] = attention
    return packing.unpack(hidden), packing.unpack(cell), list(by_sentence)


def _read(
    backend: Backend,
    sizes: list[int],
    inputs: Tensor,
    initial: Optional[Tensor],
    *parameters: Tensor,
) -> tuple[Tensor, Tensor, Reading]:
    """The gates (S, N, 4H), the queries (S, N, A) and what else the steps make."""
    weights = Weights(*parameters)
    gates = affine(inputs, weights.weight_ih_l0, weights.bias_l0)
    no_bias = torch.zeros_like(weights.attention_vector)
    queries = affine(inputs, 2 * weights.attention_input, no_bias)
    steps = STEPS[backend.name]
    return gates, queries, steps.read_steps(sizes, weights, gates, queries, initial)


class _Reading(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, backend: Backend, packing: Packing, *tensors: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        gates, queries, reading = _read(backend, packing.sizes, *tensors)
        ctx.backend, ctx.packing = backend, packing
        ctx.save_for_backward(*tensors, gates, queries, *reading)
        ctx.set_materialize_grads(False)
        return reading.hidden, reading.cell, reading.attention

    @staticmethod
    @analytic_backward
    def backward(ctx: Any, *gradients: Optional[Tensor]) -> tuple[Optional[Tensor], ...]:
        inputs, initial, *rest = ctx.saved_tensors
        rest, (gates, queries, *made) = rest[: len(Weights._fields)], rest[len(Weights._fields) :]
        weights, reading = Weights(*rest), Reading(*made)
        packing: Packing = ctx.packing
        grad_gates = writable(gates)  # (S, N, 4H)
        grads = STEPS[ctx.backend.name].read_back(
            packing.sizes, weights, grad_gates, queries, reading, gradients
        )
        by_inputs = None
        if ctx.needs_input_grad[2]:
            by_inputs = input_gradient(weights.weight_ih_l0, grad_gates)
            by_inputs.add_(input_gradient(weights.attention_input, grads.queries))
        summary_hidden = reading.summary[0]
        by_weights = Weights(
            weight_ih_l0=weight_gradient(inputs, grad_gates),
            weight_hh_l0=weight_gradient(summary_hidden, grad_gates),
            bias_l0=grad_gates.sum(1),
            attention_hidden=weight_gradient(reading.hidden, grads.keys),
            attention_input=weight_gradient(inputs, grads.queries),
            attention_previous=weight_gradient(
                packing.previous(summary_hidden), grads.queries[:, packing.sizes[0] :]
            ),
            attention_vector=grads.vector,
        )
        return (None, None, by_inputs, None if initial is None else grads.initial, *by_weights)
