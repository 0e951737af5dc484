"""The LSTMN's equations token by token; the module's docstring in `nn/lstmn.py` has them.

The S directions run side by side, the second one over the reversed sentences. A token attends only
to the tokens before it, and so never to padding. The tapes are one table of [h; c; W_h h].
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.autograd import zero_of
from allennlp_sentmatch.nn.ops.common.cells import lstm_cell
from allennlp_sentmatch.nn.ops.common.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.ops.common.packing import at_least_one_step, clear_padding, in_order
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan


class LSTMNWeights(NamedTuple):
    """The parameters of one direction under their names in `LSTMN`; or of S directions, stacked.

    `LSTMN` documents their shapes. Stacked, each has S as its first dimension.
    """

    weight_ih_l0: Tensor
    weight_hh_l0: Tensor
    bias_l0: Tensor
    attention_hidden: Tensor
    attention_input: Tensor
    attention_previous: Tensor
    attention_vector: Tensor


def lstmn_recurrence(
    inputs: Tensor,
    mask: Tensor,
    directions: Sequence[LSTMNWeights],
    initial_state: Optional[Tensor],
    is_scanned: bool = False,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Implement the function of the same name in `ops.lstmn.recurrence`.

    If `is_scanned`, the tapes have a fixed length, so that `scan` can make a loop of the steps.
    """
    num_tokens = inputs.size(1)
    inputs, mask = at_least_one_step(inputs, mask)
    inputs = clear_padding(inputs, mask)
    gates = []
    queries = []
    for s, weights in enumerate(directions):
        by_token = in_order(inputs, mask, s).transpose(0, 1)  # (T, B, D)
        gates.append(F.linear(by_token, weights.weight_ih_l0, weights.bias_l0))
        queries.append(F.linear(by_token, weights.attention_input))
    all_gates = torch.stack(gates, 1)  # (T, S, B, 4H)
    all_queries = torch.stack(queries, 1)  # (T, S, B, A)
    H = directions[0].weight_hh_l0.size(1)
    if initial_state is None:
        summary = inputs.new_zeros(len(directions), inputs.size(0), 2 * H)
    else:
        summary = torch.cat([initial_state[0], initial_state[1]], -1)  # (S, B, 2H): [h~; c~]
    run = _scanned_tapes if is_scanned else _tapes
    tapes, attention = run(all_gates, all_queries, summary, _Step(directions))
    hidden = []
    cell = []
    weights_of_tokens = []
    for s, tape in enumerate(tapes):
        in_sentence_order = clear_padding(in_order(tape, mask, s), mask)
        states = in_sentence_order[:, :num_tokens]  # (B, T, 2H + A)
        hidden.append(states[..., :H])
        cell.append(states[..., H : 2 * H])
        of_direction = clear_padding(attention[s], mask)
        weights_of_tokens.append(of_direction[:, :num_tokens, :num_tokens])
    return torch.cat(hidden, -1), torch.cat(cell, -1), weights_of_tokens


def _tapes(
    gates: Tensor,
    queries: Tensor,
    summary: Tensor,
    step: "_Step",
) -> tuple[Tensor, Tensor]:
    """Return the tapes (S, B, T, 2H + A) and the attention (S, B, T, T).

    `gates` (T, S, B, 4H) are W x_t + b and `queries` (T, S, B, A) are W_x x_t; `summary`
    (S, B, 2H) is h~ and c~ at the first token.
    """
    T, S, B, _ = gates.shape
    gates_at = gates.unbind(0)  # a single launch in the backward pass, as is the next
    queries_at = queries.unbind(0)
    row, from_summary = step.write(gates_at[0], summary)
    tapes = row.unsqueeze(2)
    weights = []
    for t in range(1, T):
        query = queries_at[t] + from_summary  # (S, B, A)
        s, summary = step.read(query, tapes)
        weights.append(s)
        row, from_summary = step.write(gates_at[t], summary)
        tapes = torch.cat([tapes, row.unsqueeze(2)], 2)
    attention = gates.new_zeros(S, B, T, T)
    if not weights:
        return tapes + zero_of(queries, step.vector), attention
    index, before = torch.tril_indices(T, T, -1, device=gates.device)
    attention[:, :, index, before] = torch.cat(weights, 2)
    return tapes, attention


def _scanned_tapes(
    gates: Tensor,
    queries: Tensor,
    summary: Tensor,
    step: "_Step",
) -> tuple[Tensor, Tensor]:
    """Compute `_tapes` with tapes of T tokens, zero where there is no state yet.

    All steps have the same shapes, so that `scan` can record them.
    """
    T, S, B, _ = gates.shape
    index = torch.arange(T, device=gates.device)

    def scanned_step(state: Tensors, at_step: Tensors) -> StepResult:
        summary, from_summary, tapes = state
        gates, query, is_before, is_new = at_step
        s, new_summary = step.read(query + from_summary, tapes, is_before)
        # Without an earlier token, the summary does not change.
        summary = torch.where(is_before.any(), new_summary, summary)
        row, from_summary = step.write(gates, summary)
        tapes = torch.where(is_new.unsqueeze(1), row.unsqueeze(2), tapes)
        return (summary, from_summary.contiguous(), tapes), (s,)

    width = summary.size(2) + queries.size(3)  # 2H + A
    no_tapes = gates.new_zeros(S, B, T, width)
    no_query = torch.zeros_like(queries[0])
    initial = (summary, no_query, no_tapes)
    token = index.unsqueeze(1)
    by_token = (gates, queries, index < token, index == token)
    (_, _, tapes), (attention,) = scan(scanned_step, initial, by_token)
    return tapes, attention.permute(1, 2, 0, 3)


class _Step:
    """A step in two parts, with the weights of S directions.

    A step reads the tapes, and then writes its own row of them. The query of the next step needs a
    product of the summary, which `write` computes with the summary's part of the gates.
    """

    def __init__(self, directions: Sequence[LSTMNWeights]) -> None:
        weights = LSTMNWeights(*map(torch.stack, zip(*directions)))
        from_summary = torch.cat([weights.weight_hh_l0, weights.attention_previous], 1)
        self._from_summary = from_summary.transpose(1, 2)  # (S, H, 4H + A)
        self._key = weights.attention_hidden.transpose(1, 2)  # (S, H, A)
        self.vector = weights.attention_vector.unsqueeze(2)  # (S, A, 1)
        _, H, A = self._key.shape
        self._sizes = [4 * H, A]

    def read(
        self,
        query: Tensor,
        tapes: Tensor,
        is_before: Optional[Tensor] = None,
    ) -> tuple[Tensor, Tensor]:
        """Read tapes (S, B, t, 2H + A) by the query W_x x_t + W_h~ h~_{t-1}, (S, B, A).

        `is_before` (t) is true for rows of tokens before this one; `None` means all rows. Return
        the attention (S, B, t), and h~ and c~ (S, B, 2H).
        """
        S, B, num_rows, width = tapes.shape
        A = query.size(2)
        states, keys = tapes.split([width - A, A], 3)
        layer = torch.tanh(keys + query.unsqueeze(2))  # (S, B, t, A)
        products = layer.flatten(1, 2).bmm(self.vector)  # (S, B * t, 1)
        scores = products.view(S, B, num_rows)
        s = scores.softmax(2) if is_before is None else masked_softmax(scores, is_before)
        weights = s.flatten(0, 1).unsqueeze(1)  # (S * B, 1, t)
        summary = weights.bmm(states.flatten(0, 1))  # (S * B, 1, 2H)
        return s, summary.view(S, B, width - A)

    def write(self, gates: Tensor, summary: Tensor) -> tuple[Tensor, Tensor]:
        """Return the token's row of the tapes (S, B, 2H + A), and W_h~ h~ (S, B, A).

        `gates` (S, B, 4H) are W x + b, `summary` (S, B, 2H) is h~ and c~.
        """
        h_summary, c_summary = summary.chunk(2, 2)
        products = h_summary.bmm(self._from_summary)  # (S, B, 4H + A)
        u, from_summary = products.split(self._sizes, 2)
        h, c = lstm_cell(gates, u, c_summary)  # (S, B, H) each
        key = h.bmm(self._key)  # (S, B, A)
        return torch.cat([h, c, key], 2), from_summary
