"""The parameters of CAS-LSTM and its equations in `nn/cas_lstm.py`, token by token.

`left_weight` and `lower_weight` are 1 - lambda and lambda. An LSTM is a first layer.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional, Union

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.packing import clear_padding
from allennlp_sentmatch.nn.ops.common.reversal import in_order
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan


class LayerWeights(NamedTuple):
    """The parameters of one layer in one direction, their blocks in the order i, f, g, o, v."""

    weight_ih: Tensor  # W: (4H or 5H, D)
    weight_hh: Tensor  # U: as many rows, but 4H with peepholes; (..., H)
    bias: Tensor  # (4H or 5H)
    #: 1 - lambda and lambda, numbers or of shape (H).
    left_weight: Union[float, Tensor] = 1.0
    lower_weight: Union[float, Tensor] = 1.0
    peephole_left: Optional[Tensor] = None  # (H), as is the next
    peephole_lower: Optional[Tensor] = None


class LayerStack(NamedTuple):
    """A stack of layers."""

    #: For each layer, the parameters of its S directions, left-to-right first.
    layers: Sequence[Sequence[LayerWeights]]
    #: The dropout probability of the hidden states between two layers, if `training`.
    dropout: float = 0.0
    training: bool = False


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
    inputs: Tensor,
    mask: Tensor,
    stack: LayerStack,
    initial: Optional[tuple[Tensor, Tensor]] = None,
) -> list[LayerOutputs]:
    """Return the outputs of each layer; the arguments are as in `lstm_recurrence`."""
    num_tokens = inputs.size(1)
    if num_tokens == 0:  # run one padded step instead, which is dropped again below
        inputs = F.pad(inputs, (0, 0, 0, 1))
        mask = F.pad(mask, (0, 1))
    inputs = clear_padding(inputs, mask)
    by_direction = []
    for direction, layers in enumerate(zip(*stack.layers)):
        states = _run_layers(in_order(inputs, mask, direction), layers, stack, initial)
        by_direction.append([_in_sentence_order(x, mask, direction, num_tokens) for x in states])
    outputs = []
    for layer in zip(*by_direction):
        hidden = torch.cat([x.hidden for x in layer], -1)
        cell = torch.cat([x.gates.cell for x in layer], -1)
        outputs.append(LayerOutputs(hidden, cell, tuple(x.gates for x in layer)))
    return outputs


def _run_layers(
    inputs: Tensor,
    layers: Sequence[LayerWeights],
    stack: LayerStack,
    initial: Optional[tuple[Tensor, Tensor]],
) -> list[LayerStates]:
    """Run the layers of one direction over inputs (B, T, D) from left to right."""
    states: list[LayerStates] = []
    lower_cell: Optional[Tensor] = None
    for number, weights in enumerate(layers):
        if number > 0:
            lower = states[-1]
            # Contiguous, since the noise is drawn in the order of memory.
            inputs = F.dropout(lower.hidden.contiguous(), stack.dropout, stack.training)
            lower_cell = lower.gates.cell
        before = None if initial is None else (initial[0][:, number], initial[1][:, number])
        states.append(run_layer(inputs, lower_cell, weights, before))
    return states


def _in_sentence_order(
    states: LayerStates,
    mask: Tensor,
    direction: int,
    num_tokens: int,
) -> LayerStates:
    """Return a layer's states in the sentences' order, zero at padding."""
    hidden, *gates = [
        None if x is None else clear_padding(in_order(x, mask, direction), mask)[:, :num_tokens]
        for x in (states.hidden, *states.gates)
    ]
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
