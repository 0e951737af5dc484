"""The LSTMN's equations token by token; the module's docstring in `nn/lstmn.py` has them."""

from collections.abc import Sequence
from typing import Callable, Optional

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.cells import lstm_cell
from allennlp_sentmatch.nn.ops.common.reversal import reverse_sentences
from allennlp_sentmatch.nn.ops.lstmn.weights import LSTMNWeights

#: `one_direction` or another form of it.
OneDirection = Callable[[Tensor, LSTMNWeights, Optional[Tensor]], tuple[Tensor, Tensor, Tensor]]


def lstmn_recurrence(
    inputs: Tensor,
    mask: Tensor,
    directions: Sequence[LSTMNWeights],
    initial_state: Optional[Tensor],
    one_direction: OneDirection,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Compute the function of the same name in `allennlp_sentmatch.nn.ops.lstmn.recurrence`."""
    num_tokens = inputs.size(1)
    if num_tokens == 0:  # run one padded step instead, which is dropped again below
        inputs, mask = (x.new_zeros(x.size(0), 1, *x.shape[2:]) for x in (inputs, mask))
    padding = ~mask.unsqueeze(-1)  # (B, T, 1)
    # Clear the padding: NaN in it would reach the weights' gradients.
    inputs = inputs.masked_fill(padding, 0.0)
    hiddens, cells, attentions = [], [], []
    for direction, weights in enumerate(directions):
        # The second direction reads the reversed sentences. A token attends to the tokens before
        # it only, so no token attends to padding.
        in_order = reverse_sentences(inputs, mask) if direction else inputs
        initial = None if initial_state is None else initial_state[:, direction]
        hidden, cell, attention = one_direction(in_order, weights, initial)
        hiddens.append(reverse_sentences(hidden, mask) if direction else hidden)
        cells.append(reverse_sentences(cell, mask) if direction else cell)
        attentions.append(attention.masked_fill(padding, 0.0))
    return (
        torch.cat(hiddens, -1).masked_fill(padding, 0.0)[:, :num_tokens],
        torch.cat(cells, -1).masked_fill(padding, 0.0)[:, :num_tokens],
        [attention[:, :num_tokens, :num_tokens] for attention in attentions],
    )


def one_direction(
    inputs: Tensor, weights: LSTMNWeights, initial_state: Optional[Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return h and c (B, T, H), and s (B, T, T), for inputs (B, T, D) from left to right."""
    B, T = inputs.shape[:2]
    H = weights.weight_hh_l0.size(1)
    dtype = weights.weight_hh_l0.dtype  # autocast narrows the products but not the states
    if initial_state is None:
        initial_state = inputs.new_zeros(2, B, H, dtype=dtype)
    h_summary, c_summary = initial_state  # h~, c~: (B, H)
    h_tape = c_tape = inputs.new_zeros(B, 0, H, dtype=dtype)
    keys = inputs.new_zeros(B, 0, weights.attention_vector.size(0), dtype=dtype)
    attention = [inputs.new_zeros(B, 0, T, dtype=dtype)]
    for t in range(T):
        x = inputs[:, t]
        s = h_tape.new_zeros(B, 0)
        if t > 0:
            query = F.linear(x, weights.attention_input) + F.linear(
                h_summary, weights.attention_previous
            )  # (B, A)
            a = torch.tanh(keys + query.unsqueeze(1)) @ weights.attention_vector  # (B, t)
            s = a.softmax(1).to(dtype)
            h_summary = (s.unsqueeze(2) * h_tape).sum(1)
            c_summary = (s.unsqueeze(2) * c_tape).sum(1)
        attention.append(F.pad(s, (0, T - t)).unsqueeze(1))
        pre_activations = F.linear(x, weights.weight_ih_l0, weights.bias_l0) + F.linear(
            h_summary, weights.weight_hh_l0
        )  # (B, 4H)
        h, c = lstm_cell(pre_activations.to(dtype), c_summary)  # (B, H) each
        h_tape = torch.cat([h_tape, h.unsqueeze(1)], 1)  # (B, t + 1, H)
        c_tape = torch.cat([c_tape, c.unsqueeze(1)], 1)
        keys = torch.cat([keys, F.linear(h, weights.attention_hidden).unsqueeze(1)], 1)
    return h_tape, c_tape, torch.cat(attention, 1)
