"""The LSTMN's equations token by token; the module's docstring in `nn/lstmn.py` has them."""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.cells import lstm_cell
from allennlp_sentmatch.nn.ops.common.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.ops.common.reversal import reverse_sentences
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan
from allennlp_sentmatch.nn.ops.lstmn.weights import LSTMNWeights


def lstmn_recurrence(
    inputs: Tensor,
    mask: Tensor,
    directions: Sequence[LSTMNWeights],
    initial_state: Optional[Tensor],
    is_scanned: bool = False,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Compute the function of the same name in `allennlp_sentmatch.nn.ops.lstmn.recurrence`.

    If `is_scanned`, the tapes have a fixed length, so that `scan` can make a loop of the steps.
    """
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
        dtype = weights.weight_hh_l0.dtype  # autocast narrows the products but not the states
        if initial_state is None:
            zeros = inputs.new_zeros(inputs.size(0), weights.weight_hh_l0.size(1), dtype=dtype)
            summary = (zeros, zeros)
        else:
            summary = (initial_state[0, direction], initial_state[1, direction])
        one_direction = _scanned_direction if is_scanned else _one_direction
        hidden, cell, attention = one_direction(in_order, weights, summary)
        hiddens.append(reverse_sentences(hidden, mask) if direction else hidden)
        cells.append(reverse_sentences(cell, mask) if direction else cell)
        attentions.append(attention.masked_fill(padding, 0.0))
    return (
        torch.cat(hiddens, -1).masked_fill(padding, 0.0)[:, :num_tokens],
        torch.cat(cells, -1).masked_fill(padding, 0.0)[:, :num_tokens],
        [attention[:, :num_tokens, :num_tokens] for attention in attentions],
    )


class _Tapes(NamedTuple):
    """The states of t tokens, or of one."""

    hidden: Tensor  # (B, t, H)
    cell: Tensor  # (B, t, H)
    keys: Tensor  # (B, t, A): W_h h


def _one_direction(
    inputs: Tensor, weights: LSTMNWeights, summary: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return h and c (B, T, H), and s (B, T, T), for inputs (B, T, D) from left to right.

    `summary` are h~ and c~ (B, H) at the first token.
    """
    T = inputs.size(1)
    tapes, summary, s = _step(inputs[:, 0], None, summary, None, weights)
    attention = [F.pad(s, (0, T))]
    for t in range(1, T):
        new, summary, s = _step(inputs[:, t], tapes, summary, None, weights)
        tapes = _Tapes(*(torch.cat(pair, 1) for pair in zip(tapes, new)))
        attention.append(F.pad(s, (0, T - t)))
    return tapes.hidden, tapes.cell, torch.stack(attention, 1)


def _scanned_direction(
    inputs: Tensor, weights: LSTMNWeights, summary: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute `_one_direction` with tapes of T tokens, zero where there is no state yet."""
    B, T = inputs.shape[:2]
    index = torch.arange(T, device=inputs.device)

    def step(state: Tensors, at_step: Tensors) -> StepResult:
        x, is_before, is_new = at_step  # (B, D), (T), (T)
        tapes = _Tapes(*state[2:])
        new, summary, s = _step(x, tapes, (state[0], state[1]), is_before, weights)
        written = (torch.where(is_new.unsqueeze(1), *pair) for pair in zip(new, tapes))
        return (*summary, *written), (s,)

    tape, keys = (
        summary[0].new_zeros(B, T, size)
        for size in (summary[0].size(1), weights.attention_vector.size(0))
    )
    by_token = (inputs.transpose(0, 1), index < index.unsqueeze(1), index == index.unsqueeze(1))
    (_, _, hidden, cell, _), (attention,) = scan(step, (*summary, tape, tape, keys), by_token)
    return hidden, cell, attention.transpose(0, 1)


def _step(
    x: Tensor,
    tapes: Optional[_Tapes],
    summary: tuple[Tensor, Tensor],
    is_before: Optional[Tensor],
    weights: LSTMNWeights,
) -> tuple[_Tapes, tuple[Tensor, Tensor], Tensor]:
    """Read a token (B, D).

    # Parameters

    tapes : `Optional[_Tapes]`
        Those of t tokens; `None` at the first token.
    summary : `tuple[Tensor, Tensor]`
        h~ and c~ of the token before, (B, H) each.
    is_before : `Optional[Tensor]`
        Shape (t), bool: which rows of the tapes are of tokens before this one; all if `None`.

    # Returns

    `tuple[_Tapes, tuple[Tensor, Tensor], Tensor]`
        The token's states, its h~ and c~, and its attention (B, t).
    """
    dtype = weights.weight_hh_l0.dtype
    h_summary, c_summary = summary
    attention = h_summary.new_zeros(x.size(0), 0)
    if tapes is not None:
        query = F.linear(x, weights.attention_input) + F.linear(
            h_summary, weights.attention_previous
        )  # (B, A)
        scores = torch.tanh(tapes.keys + query.unsqueeze(1)) @ weights.attention_vector  # (B, t)
        scores = scores.to(dtype)
        attention = scores.softmax(1) if is_before is None else masked_softmax(scores, is_before)
        summaries = [(attention.unsqueeze(2) * tape).sum(1) for tape in (tapes.hidden, tapes.cell)]
        if is_before is not None:  # without a token before, the summary stays as it was
            follows = is_before.any()
            summaries = [torch.where(follows, *pair) for pair in zip(summaries, summary)]
        h_summary, c_summary = summaries
    pre_activations = F.linear(x, weights.weight_ih_l0, weights.bias_l0) + F.linear(
        h_summary, weights.weight_hh_l0
    )  # (B, 4H)
    h, c = lstm_cell(pre_activations.to(dtype), c_summary)  # (B, H) each
    key = F.linear(h, weights.attention_hidden).to(dtype)  # (B, A)
    return _Tapes(*(state.unsqueeze(1) for state in (h, c, key))), (h_summary, c_summary), attention
