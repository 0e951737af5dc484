"""The equations of CAS-LSTM in `nn/cas_lstm.py`, token by token.

`left_weight` and `lower_weight` are 1 - lambda and lambda. An LSTM is a first layer.
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


class LayerOutputs(NamedTuple):
    """The states of a layer, zero at padding, and possibly its gates in each direction."""

    hidden: Tensor  # (B, T, S * H)
    cell: Tensor  # (B, T, S * H)
    gates: tuple[CellAwareLSTMGates, ...] = ()


def run_stack(
    inputs: Tensor, mask: Tensor, stack: LayerStack, initial: Optional[tuple[Tensor, Tensor]] = None
) -> list[LayerOutputs]:
    """Return the outputs of each layer; the arguments are as in `lstm_recurrence`."""
    layers, dropout, training = stack
    num_tokens = inputs.size(1)
    if num_tokens == 0:  # run one padded step instead, which `in_order` drops
        inputs = F.pad(inputs, (0, 0, 0, 1))
        mask = F.pad(mask, (0, 1))
    # Padding, NaN included, reaches neither outputs nor gradients.
    inputs = _clear_padding(inputs, mask)

    def in_order(states: LayerStates, reverse: bool) -> LayerStates:
        def put(x: Tensor) -> Tensor:
            x = reverse_sentences(x, mask) if reverse else x
            return _clear_padding(x, mask)[:, :num_tokens]

        gates = (gate if gate is None else put(gate) for gate in states.gates)
        return LayerStates(put(states.hidden), CellAwareLSTMGates._make(gates))

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
        directions.append([in_order(x, reverse) for x in states])
    return [
        LayerOutputs(
            torch.cat([x.hidden for x in layer], -1),
            torch.cat([x.gates.cell for x in layer], -1),
            tuple(x.gates for x in layer),
        )
        for layer in zip(*directions)
    ]


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
        # The states keep the parameters' precision even if autocast narrows the products.
        zeros = weights.weight_hh.new_zeros(inputs.size(0), weights.weight_hh.size(1))
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
