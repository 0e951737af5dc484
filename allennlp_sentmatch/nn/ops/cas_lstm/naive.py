"""The parameters of CAS-LSTM and its equations in `nn/cas_lstm.py`, token by token.

`left_weight` and `lower_weight` are 1 - lambda and lambda. An LSTM is a first layer.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional, Union

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.packing import at_least_one_step, clear_padding, in_order
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan


class LayerWeights(NamedTuple):
    """The parameters of one layer in one direction, their blocks in the order i, f, g, o, v.

    # Attributes

    weight_ih : `Tensor`
        W, (4H, D) without a layer below and (5H, D) with one.
    weight_hh : `Tensor`
        U, as many rows, but 4H with peepholes; (..., H).
    bias : `Tensor`
        (4H) or (5H)
    left_weight, lower_weight : `Union[float, Tensor]`, optional (default = `1.0`)
        1 - lambda and lambda: numbers, or (H).
    peephole_left, peephole_lower : `Tensor`, optional (default = `None`)
        (H) each.
    """

    weight_ih: Tensor
    weight_hh: Tensor
    bias: Tensor
    left_weight: Union[float, Tensor] = 1.0
    lower_weight: Union[float, Tensor] = 1.0
    peephole_left: Optional[Tensor] = None
    peephole_lower: Optional[Tensor] = None


class LayerStack(NamedTuple):
    """A stack of layers.

    # Attributes

    layers : `Sequence[Sequence[LayerWeights]]`
        For each layer, the parameters of its S directions, left-to-right first.
    dropout : `float`, optional (default = `0.0`)
        The dropout probability of the hidden states between two layers, if `training`.
    training : `bool`, optional (default = `False`)
    """

    layers: Sequence[Sequence[LayerWeights]]
    dropout: float = 0.0
    training: bool = False


class CellAwareLSTMGates(NamedTuple):
    """The gates of one layer in one direction, in the sentence's own order.

    Each tensor is (B, T, H) and zero at padded steps. `vertical` is the vertical forget gate, or
    `None` in layer 0, which has no layer below it; `cell` are the memory cells c_t.
    """

    input: Tensor
    forget: Tensor
    candidate: Tensor
    output: Tensor
    vertical: Optional[Tensor]
    cell: Tensor


class LayerStates(NamedTuple):
    """The hidden states and the gates of one layer in one direction, (B, T, H) each."""

    hidden: Tensor
    gates: CellAwareLSTMGates


class LayerOutputs(NamedTuple):
    """The states of a layer, and possibly its gates in each direction.

    `hidden` and `cell` are (B, T, S * H), zero at padding.
    """

    hidden: Tensor
    cell: Tensor
    gates: tuple[CellAwareLSTMGates, ...] = ()


def run_stack(
    inputs: Tensor,
    mask: Tensor,
    stack: LayerStack,
    initial: Optional[tuple[Tensor, Tensor]] = None,
) -> list[LayerOutputs]:
    """Return the outputs of each layer; the arguments are as in `lstm_recurrence`.

    The outputs include the gates of each direction, in the order of the sentences.
    """
    num_tokens = inputs.size(1)
    inputs, mask = at_least_one_step(inputs, mask)
    inputs = clear_padding(inputs, mask)
    by_direction = []
    for direction, layers in enumerate(zip(*stack.layers)):
        as_read = in_order(inputs, mask, direction)
        states = _run_layers(as_read, layers, stack, initial)
        by_direction.append([_in_sentence_order(x, mask, direction, num_tokens) for x in states])
    outputs = []
    for directions in zip(*by_direction):
        hidden = torch.cat([states.hidden for states in directions], -1)
        cell = torch.cat([states.gates.cell for states in directions], -1)
        gates = tuple(states.gates for states in directions)
        outputs.append(LayerOutputs(hidden, cell, gates))
    return outputs


def _run_layers(
    inputs: Tensor,
    layers: Sequence[LayerWeights],
    stack: LayerStack,
    initial: Optional[tuple[Tensor, Tensor]],
) -> list[LayerStates]:
    """Run the layers of one direction over inputs (B, T, D) from left to right.

    `layers` are the parameters of the direction, the lowest layer first, and `initial` is h and c
    before the first token, (B, L, H) each. Return the states of each layer, also at padding.
    """
    states: list[LayerStates] = []
    lower_cell: Optional[Tensor] = None
    for number, weights in enumerate(layers):
        if number > 0:
            lower = states[-1]
            lower_hidden = lower.hidden.contiguous()  # noise is drawn in the order of memory
            inputs = F.dropout(lower_hidden, stack.dropout, stack.training)
            lower_cell = lower.gates.cell
        before = None
        if initial is not None:
            before = (initial[0][:, number], initial[1][:, number])  # (B, H) each
        states.append(run_layer(inputs, lower_cell, weights, before))
    return states


def _in_sentence_order(
    states: LayerStates,
    mask: Tensor,
    direction: int,
    num_tokens: int,
) -> LayerStates:
    """Return a layer's states in the sentences' order, zero at padding.

    Only the first `num_tokens` tokens are kept.
    """
    ordered: list[Optional[Tensor]] = []
    for x in (states.hidden, *states.gates):
        if x is not None:
            x = clear_padding(in_order(x, mask, direction), mask)[:, :num_tokens]
        ordered.append(x)
    hidden, *gates = ordered
    assert hidden is not None
    return LayerStates(hidden, CellAwareLSTMGates._make(gates))


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
        H = weights.weight_hh.size(1)
        zeros = weights.weight_hh.new_zeros(inputs.size(0), H)
        initial = (zeros, zeros)

    def step(state: Tensors, at_step: Tensors) -> StepResult:
        hidden, cell = state
        x, *rest = at_step
        lower = rest[0] if rest else None
        states = run_step(x, hidden, cell, lower, weights)
        gates = [gate for gate in states.gates if gate is not None]
        return (states.hidden, states.gates.cell), (states.hidden, *gates)

    by_token = [inputs.transpose(0, 1)]
    if lower_cell is not None:
        by_token.append(lower_cell.transpose(0, 1))
    _, outputs = scan(step, initial, by_token)
    hidden, *gates, cell = (x.transpose(0, 1) for x in outputs)
    vertical = None if lower_cell is None else gates.pop()
    return LayerStates(hidden, CellAwareLSTMGates._make([*gates, vertical, cell]))


def run_step(
    inputs: Tensor,
    hidden: Tensor,
    cell: Tensor,
    lower: Optional[Tensor],
    weights: LayerWeights,
) -> LayerStates:
    """Run a step of a layer from its inputs (B, D), its states and the cells below (B, H).

    Return the hidden states and the gates of the step, (B, H) each.
    """
    H = weights.weight_hh.size(1)
    # 4 or 5 blocks, each (B, H)
    x = F.linear(inputs, weights.weight_ih, weights.bias).split(H, dim=-1)
    u = F.linear(hidden, weights.weight_hh).split(H, dim=-1)
    i = torch.sigmoid(x[0] + u[0])
    f = torch.sigmoid(x[1] + u[1])
    g = torch.tanh(x[2] + u[2])
    o = torch.sigmoid(x[3] + u[3])
    v = None
    if lower is None:
        cell = i * g + f * cell
    else:
        if weights.peephole_left is None or weights.peephole_lower is None:
            context = u[4]
        else:
            context = weights.peephole_left * cell + weights.peephole_lower * lower
        v = torch.sigmoid(x[4] + context)
        from_left = weights.left_weight * f * cell
        from_lower = weights.lower_weight * v * lower
        cell = i * g + from_left + from_lower
    hidden = o * torch.tanh(cell)
    return LayerStates(hidden, CellAwareLSTMGates(i, f, g, o, v, cell))
