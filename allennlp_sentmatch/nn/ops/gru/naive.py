r"""The equations of a GRU, token by token.

Cho et al. 2014 (https://arxiv.org/abs/1406.1078), as in `torch.nn.GRU`. With inputs x,

    r_t = sigmoid(W_r x_t + b_r + U_r h_{t-1} + c_r),   z_t likewise
    n_t = tanh(W_n x_t + b_n + r_t * (U_n h_{t-1} + c_n))
    h_t = (1 - z_t) * n_t + z_t * h_{t-1}

where W, U, b and c are `weight_ih`, `weight_hh`, `bias_ih` and `bias_hh`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.cells import gru_cell
from allennlp_sentmatch.nn.ops.common.packing import clear_padding, in_order
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan


class GRUWeights(NamedTuple):
    """The parameters of one direction, in the order of `torch.nn.GRU.all_weights`.

    `weight_ih` is (3H, D), `weight_hh` (3H, H), and the biases are (3H), with the blocks r, z, n.
    """

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor
    bias_hh: Tensor


def gru_recurrence(
    inputs: Tensor,
    mask: Tensor,
    directions: Sequence[GRUWeights],
) -> Tensor:
    """Implement the function of the same name in `ops.gru.recurrence`."""
    inputs = clear_padding(inputs, mask)
    states = []
    for direction, weights in enumerate(directions):
        as_read = in_order(inputs, mask, direction)
        hidden = _one_direction(as_read, weights)
        states.append(in_order(hidden, mask, direction))
    return clear_padding(torch.cat(states, -1), mask)


def _one_direction(inputs: Tensor, weights: GRUWeights) -> Tensor:
    """Return the states (B, T, H) of inputs (B, T, D) from left to right."""

    def step(state: Tensors, at_step: Tensors) -> StepResult:
        (h,) = state  # (B, H)
        (x,) = at_step  # (B, 3H)
        u = F.linear(h, weights.weight_hh, weights.bias_hh)  # (B, 3H)
        h = gru_cell(x, u, h)
        return (h,), (h,)

    projected = F.linear(inputs, weights.weight_ih, weights.bias_ih)  # (B, T, 3H)
    initial = projected.new_zeros(inputs.size(0), weights.weight_hh.size(1))
    _, (states,) = scan(step, (initial,), [projected.transpose(0, 1)])
    return states.transpose(0, 1)
