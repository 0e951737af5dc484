"""The LSTMN's equations with tapes of a fixed length, of which `scan` can make a loop."""

from typing import Optional

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.cells import lstm_cell
from allennlp_sentmatch.nn.ops.common.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan
from allennlp_sentmatch.nn.ops.lstmn.weights import LSTMNWeights


def one_direction(
    inputs: Tensor, weights: LSTMNWeights, initial_state: Optional[Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the function of the same name in `naive`."""
    B, T = inputs.shape[:2]
    H, A = weights.weight_hh_l0.size(1), weights.attention_vector.size(0)
    dtype = weights.weight_hh_l0.dtype  # autocast narrows the products but not the states
    if initial_state is None:
        initial_state = inputs.new_zeros(2, B, H, dtype=dtype)
    index = torch.arange(T, device=inputs.device)

    def step(state: Tensors, at_step: Tensors) -> StepResult:
        h_summary, c_summary, h_tape, c_tape, keys = state
        x, is_before, is_new = at_step  # (B, D), (T), (T)
        query = F.linear(x, weights.attention_input) + F.linear(
            h_summary, weights.attention_previous
        )  # (B, A)
        a = torch.tanh(keys + query.unsqueeze(1)) @ weights.attention_vector  # (B, T)
        s = masked_softmax(a.to(dtype), is_before)  # zero at the first token
        follows = is_before.any()
        h_summary = torch.where(follows, (s.unsqueeze(2) * h_tape).sum(1), h_summary)
        c_summary = torch.where(follows, (s.unsqueeze(2) * c_tape).sum(1), c_summary)
        pre_activations = F.linear(x, weights.weight_ih_l0, weights.bias_l0) + F.linear(
            h_summary, weights.weight_hh_l0
        )  # (B, 4H)
        h, c = lstm_cell(pre_activations.to(dtype), c_summary)  # (B, H) each
        key = F.linear(h, weights.attention_hidden).to(dtype)  # (B, A)
        h_tape, c_tape, keys = (
            torch.where(is_new.unsqueeze(1), new.unsqueeze(1), tape)
            for new, tape in ((h, h_tape), (c, c_tape), (key, keys))
        )
        return (h_summary, c_summary, h_tape, c_tape, keys), (s,)

    tape = inputs.new_zeros(B, T, H, dtype=dtype)
    keys = inputs.new_zeros(B, T, A, dtype=dtype)
    by_token = (inputs.transpose(0, 1), index < index.unsqueeze(1), index == index.unsqueeze(1))
    state = (initial_state[0], initial_state[1], tape, tape, keys)
    (_, _, h_tape, c_tape, _), (attention,) = scan(step, state, by_token)
    return h_tape, c_tape, attention.transpose(0, 1)
