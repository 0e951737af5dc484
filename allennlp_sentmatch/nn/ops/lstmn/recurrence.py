r"""The LSTMN's recurrence over a batch of sentences.

`naive` holds the equations. `cpu` computes over packed sentences, with an analytic backward pass.
It projects a token's key W_h h_i once, when its state is written to the tapes, and multiplies h~
once per step, for the gates of this step and the attention of the next. As tanh(x) =
2 sigmoid(2x) - 1 and a softmax is invariant to a constant added to all scores, the scores are

    a_i = 2 v . sigmoid(2 W_h h_i + 2 (W_x x_t + W_h~ h~_{t-1}))

The backward pass overwrites the gates with their gradients. The gradient of each weight is a single
product over all steps.
"""

from collections.abc import Sequence
from typing import Any, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend, Name, resolve
from allennlp_sentmatch.nn.ops.common.autocast import without_autocast
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward, writable
from allennlp_sentmatch.nn.ops.common.packing import Packing, mask_of
from allennlp_sentmatch.nn.ops.lstmn import cpu, naive
from allennlp_sentmatch.nn.ops.lstmn.tables import LSTMNOutputGradients, LSTMNTables, Tapes
from allennlp_sentmatch.nn.ops.lstmn.weights import LSTMNWeights

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "cpu")


def lstmn_recurrence(
    inputs: Tensor,
    mask: Optional[Tensor],
    directions: Sequence[LSTMNWeights],
    initial_state: Optional[Tensor] = None,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Compute the tapes of sentences in one or two directions.

    # Parameters

    inputs : `Tensor`
        Shape (B, T, D).
    mask : `Optional[Tensor]`
        Shape (B, T), right-padded. `None`: nothing is padding.
    directions : `Sequence[LSTMNWeights]`
        The weights of each direction, left-to-right first.
    initial_state : `Tensor`, optional (default = zeros)
        Shape (2, S, B, H): h~ and c~ at the first step.

    # Returns

    `tuple[Tensor, Tensor, list[Tensor]]`
        The tapes h and c, each (B, T, S * H) and zero at padding; and the attention of each
        direction, (B, T, T), with rows and columns in the order of the direction.
    """
    tensors = [inputs, *(weight for weights in directions for weight in weights)]
    if initial_state is not None:
        tensors.append(initial_state)
    backend = resolve("LSTMN", IMPLEMENTATIONS, *tensors)
    with without_autocast(inputs.device):
        if backend.name == "cpu":
            packing = Packing.of(inputs, mask, bidirectional=len(directions) == 2)
            if packing.sizes:  # else there is no token in the batch, hence no step
                return _packed(backend, packing, inputs, directions, initial_state)
        is_scanned = backend.name == "scan"
        mask = mask_of(inputs, mask)
        return naive.lstmn_recurrence(inputs, mask, directions, initial_state, is_scanned)


def _packed(
    backend: Backend,
    packing: Packing,
    inputs: Tensor,
    directions: Sequence[LSTMNWeights],
    initial_state: Optional[Tensor],
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Compute `lstmn_recurrence` over packed sentences, of which there is at least one."""
    B, T = packing.shape
    order = packing.order
    weights = [
        same[0].unsqueeze(0) if len(same) == 1 else torch.stack(same) for same in zip(*directions)
    ]
    initial = None if initial_state is None else initial_state[:, :, order]
    packed = packing.pack(inputs)
    arguments = (packed, initial, *weights)
    if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in arguments):
        hidden, cell, attention = _Recurrence.apply(  # type: ignore[no-untyped-call]
            backend, packing, *arguments
        )
    else:
        tables, _ = _forward(backend, packing.sizes, packed, initial, *weights)
        hidden, cell, attention = tables.hidden, tables.cell, tables.attention
    S, longest = attention.size(0), attention.size(-1)
    by_sentence = attention.new_zeros(S, B, T, T)
    by_sentence[:, order, :longest, :longest] = attention
    return packing.unpack(hidden), packing.unpack(cell), list(by_sentence)


def _forward(
    backend: Backend, sizes: list[int], inputs: Tensor, initial: Optional[Tensor], *tensors: Tensor
) -> tuple[LSTMNTables, Tapes]:
    """Project the inputs and run the steps with the weights `tensors` of S directions."""
    weights, affine = LSTMNWeights(*tensors), backend.products.affine
    gates = affine(inputs, weights.weight_ih_l0, weights.bias_l0)
    no_bias = torch.zeros_like(weights.attention_vector)
    queries = affine(inputs, 2 * weights.attention_input, no_bias)
    return cpu.forward(backend, sizes, weights, gates, queries, initial)


class _Recurrence(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, backend: Backend, packing: Packing, *arguments: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        tables, tapes = _forward(backend, packing.sizes, *arguments)
        inputs, _, *weights = arguments
        ctx.backend, ctx.packing = backend, packing
        ctx.save_for_backward(*tapes, inputs, *weights, *tables)
        ctx.set_materialize_grads(False)
        return tables.hidden, tables.cell, tables.attention

    @staticmethod
    @analytic_backward
    def backward(ctx: Any, *gradients: Optional[Tensor]) -> tuple[Optional[Tensor], ...]:
        keys, states, inputs, *saved = ctx.saved_tensors
        num_weights = len(LSTMNWeights._fields)
        weights, tables = LSTMNWeights(*saved[:num_weights]), LSTMNTables(*saved[num_weights:])
        tables = tables._replace(gates=writable(tables.gates))
        packing = ctx.packing
        products = ctx.backend.products
        grads = cpu.backward(
            ctx.backend,
            packing.sizes,
            weights,
            tables,
            Tapes(keys, states),
            LSTMNOutputGradients(*gradients),
        )
        _, _, needs_inputs, needs_initial, *needs_weights = ctx.needs_input_grad
        needs = LSTMNWeights(*needs_weights)
        grad_inputs: Any = None
        if needs_inputs:
            grad_inputs = products.input_gradient(weights.weight_ih_l0, grads.gates)
            grad_inputs.add_(products.input_gradient(weights.attention_input, grads.queries))
        summary_hidden = tables.summary[0]

        def weight_gradient(is_needed: Any, x: Tensor, grad: Tensor) -> Any:
            return products.weight_gradient(x, grad) if is_needed else None

        return (
            None,
            None,
            grad_inputs,
            grads.initial if needs_initial else None,
            *LSTMNWeights(
                weight_ih_l0=weight_gradient(needs.weight_ih_l0, inputs, grads.gates),
                weight_hh_l0=weight_gradient(needs.weight_hh_l0, summary_hidden, grads.gates),
                bias_l0=grads.gates.sum(1),
                attention_hidden=weight_gradient(needs.attention_hidden, tables.hidden, grads.keys),
                attention_input=weight_gradient(needs.attention_input, inputs, grads.queries),
                attention_previous=weight_gradient(
                    needs.attention_previous,
                    packing.previous(summary_hidden),
                    grads.queries[:, packing.sizes[0] :],
                ),
                attention_vector=grads.vector,
            ),
        )
