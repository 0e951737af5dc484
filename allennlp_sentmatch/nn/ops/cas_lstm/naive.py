r"""The equations of an LSTM and of CAS-LSTM, token by token.

With x the inputs of a layer and lower the cells of the layer below,

    i_t = sigmoid(W_i x_t + U_i h_{t-1} + b_i),   f_t, o_t, v_t likewise
    g_t = tanh(W_g x_t + U_g h_{t-1} + b_g)
    c_t = i_t * g_t + left_weight * f_t * c_{t-1} + lower_weight * v_t * lower_t
    h_t = o_t * tanh(c_t)

An LSTM, and the first layer of a CAS-LSTM, has neither v nor lower. In the peephole variant

    v_t = sigmoid(W_v x_t + peephole_left * c_{t-1} + peephole_lower * lower_t + b_v)
"""

from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerStack, LayerWeights
from allennlp_sentmatch.nn.ops.common.reversal import reverse_sentences
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan


class CellAwareLSTMGates(NamedTuple):
    """The gates of one layer in one direction, in the sentence's own order.

    Each tensor is (B, T, H) and zero at padded steps.
    """

    input: Tensor
    forget: Tensor
    candidate: Tensor
    output: Tensor
    #: The vertical forget gate; `None` in layer 0, which has no layer below it.
    vertical: Optional[Tensor]
    #: The memory cells c_t.
    cell: Tensor


class LayerStates(NamedTuple):
    """The hidden states and the gates of one layer in one direction, (B, T, H) each."""

    hidden: Tensor
    gates: CellAwareLSTMGates


def run_stack(
    inputs: Tensor,
    mask: Tensor,
    stack: LayerStack,
    initial: Optional[tuple[Tensor, Tensor]] = None,
) -> list[list[LayerStates]]:
    """Return the states of each layer in each of its directions.

    The arguments are those of `lstm_recurrence`.
    """
    layers, dropout, training = stack
    num_tokens = inputs.size(1)
    if num_tokens == 0:  # run one padded step instead, which `in_order` drops again
        inputs, mask = (x.new_zeros(x.size(0), 1, *x.shape[2:]) for x in (inputs, mask))
    # Padding, NaN included, reaches neither outputs nor gradients.
    inputs = _clear_padding(inputs, mask)

    def in_order(states: Tensor, reverse: bool) -> Tensor:
        states = reverse_sentences(states, mask) if reverse else states
        return _clear_padding(states, mask)[:, :num_tokens]

    directions = []
    for direction, weights_of_layers in enumerate(zip(*layers)):
        # Both directions run from left to right; the second one, over the reversed sentence. The
        # padding stays on the right, so that no state passes through it to a token.
        reverse = direction == 1
        x = reverse_sentences(inputs, mask) if reverse else inputs
        lower_cell: Optional[Tensor] = None
        states: list[LayerStates] = []
        for number, weights in enumerate(weights_of_layers):
            if number > 0:
                # Contiguous, since the noise is drawn in the order of memory.
                x = F.dropout(states[-1].hidden.contiguous(), dropout, training)
                lower_cell = states[-1].gates.cell
            before = None if initial is None else (initial[0][:, number], initial[1][:, number])
            states.append(run_layer(x, lower_cell, weights, before))
        directions.append(
            [
                LayerStates(
                    in_order(hidden, reverse),
                    CellAwareLSTMGates._make(
                        gate if gate is None else in_order(gate, reverse) for gate in gates
                    ),
                )
                for hidden, gates in states
            ]
        )
    return [list(layer) for layer in zip(*directions)]


def run_layer(
    inputs: Tensor,
    lower_cell: Optional[Tensor],
    weights: LayerWeights,
    initial: Optional[tuple[Tensor, Tensor]] = None,
) -> LayerStates:
    """Run a layer over its inputs (B, T, D) and the cells below (B, T, H), token by token.

    `initial`, h and c before the first token (B, H), is zero by default.
    """
    if initial is None:
        # The states keep the parameters' precision where autocast narrows the products.
        zeros = inputs.new_zeros(
            inputs.size(0), weights.weight_hh.size(1), dtype=weights.weight_hh.dtype
        )
        initial = (zeros, zeros)

    def step(state: Tensors, at_step: Tensors) -> StepResult:
        hidden, cell = state
        x, *lower = at_step
        states = run_step(x, hidden, cell, lower[0] if lower else None, weights)
        gates = [gate for gate in states.gates if gate is not None]
        return (states.hidden, states.gates.cell), (states.hidden, *gates)

    by_token = [inputs] if lower_cell is None else [inputs, lower_cell]
    _, outputs = scan(step, initial, [x.transpose(0, 1) for x in by_token])
    hidden, *gates, cell = (x.transpose(0, 1) for x in outputs)
    vertical = None if lower_cell is None else gates.pop()
    return LayerStates(hidden, CellAwareLSTMGates._make([*gates, vertical, cell]))


def run_step(
    inputs: Tensor, hidden: Tensor, cell: Tensor, lower: Optional[Tensor], weights: LayerWeights
) -> LayerStates:
    """Run a step of a layer from its inputs (B, D), its states and the cells below (B, H).

    Return the hidden states and the gates of the step, (B, H) each.
    """
    H = weights.weight_hh.size(1)
    # 4 or 5 blocks, each (B, H)
    x = F.linear(inputs, weights.weight_ih, weights.bias).split(H, dim=-1)
    u = F.linear(hidden, weights.weight_hh).split(H, dim=-1)
    i, f, o = (torch.sigmoid(x[k] + u[k]) for k in (0, 1, 3))
    g = torch.tanh(x[2] + u[2])
    v: Optional[Tensor] = None
    if lower is None:
        cell = i * g + f * cell
    else:
        if weights.peephole_left is None or weights.peephole_lower is None:
            context = u[4]
        else:
            context = weights.peephole_left * cell + weights.peephole_lower * lower
        v = torch.sigmoid(x[4] + context)
        cell = i * g + weights.left_weight * f * cell + weights.lower_weight * v * lower
    return LayerStates(o * torch.tanh(cell), CellAwareLSTMGates(i, f, g, o, v, cell))


def _clear_padding(sequence: Tensor, mask: Tensor) -> Tensor:
    return sequence.masked_fill(~mask.unsqueeze(-1), 0)
