r"""The LSTMN's recurrence compiled for CPUs, with a single pass over the tapes per step.

A token's key W_h h_i is computed once, when its state is written to the tapes, and h~ is multiplied
once per step, for the gates of this step and the attention of the next. As tanh(x) =
2 sigmoid(2x) - 1 and a softmax is invariant to a constant added to all scores, the scores are

    a_i = 2 v . sigmoid(2 W_h h_i + 2 (W_x x_t + W_h~ h~_{t-1}))

Apart from the attention, a step is a step of an LSTM whose state is the summary. The backward pass
overwrites the gates with their gradients; a weight's gradient is one product over all steps.
"""

from itertools import accumulate
from typing import NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.autograd import Gradients, writable
from allennlp_sentmatch.nn.ops.common.gated_steps import GatedLayer
from allennlp_sentmatch.nn.ops.common.native import Arguments, Rows, fields, num_threads
from allennlp_sentmatch.nn.ops.common.packing import Packing, lengths_of
from allennlp_sentmatch.nn.ops.common.products import stack
from allennlp_sentmatch.nn.ops.lstmn.naive import LSTMNWeights

LSTMNArguments = tuple[Tensor, Optional[Tensor], LSTMNWeights]
"""Packed inputs (S, N, D); h~ and c~ at the first step (2, S, B, H); and the stacked weights."""


class LSTMNTables(NamedTuple):
    """The tables of S directions, N tokens, B sentences of at most T tokens, and A units.

    Rows of N tokens are packed. In tapes, which a step reads, a sentence's rows are side by side.
    """

    gates: Tensor  # (S, N, 4H): i, f, g, o
    queries: Tensor  # (S, N, A): 2 (W_x x_t + W_h~ h~_{t-1})
    hidden: Tensor  # (S, N, H)
    cell: Tensor  # (S, N, H)
    attention: Tensor  # (S, B, T, T)
    summary: Tensor  # (2, S, N, H): h~ and c~
    keys: Tensor  # (S, N, A), a tape: 2 W_h h
    states: Tensor  # (S, N, 2H), a tape: [h; c]


class Attention(Arguments):
    """The arguments of a step's attention; native/_lstmn_attention.cpp describes them."""

    _fields_ = fields(
        "n t num_steps H A",
        "first start lengths keys states queries vector attention hidden cell summary_hidden "
        "summary_cell new_keys from_summary buffer key_factors query_factors keys_within "
        "queries_within grad_attention grad_keys grad_queries grad_vector grad_hidden grad_cell "
        "grad_summaries grad_scores",
    )


def forward(
    backend: Backend, packing: Packing, arguments: LSTMNArguments, keep: bool
) -> tuple[tuple[Tensor, Tensor, Tensor], LSTMNTables]:
    """Run the steps of a batch that has a token.

    Return the tapes h and c, (S, N, H) each, and the attention, (S, B, T, T); and the tables.
    """
    inputs, initial, weights = arguments
    sizes, products = packing.sizes, backend.products
    (S, N, _), B, T = inputs.shape, sizes[0], len(sizes)
    A, H = weights.attention_hidden.shape[1:]
    gates = products.affine(inputs, weights.weight_ih_l0, weights.bias_l0)
    no_bias = torch.zeros_like(weights.attention_vector)
    queries = products.affine(inputs, 2 * weights.attention_input, no_bias)
    hidden, cell = gates.new_empty(2, S, N, H)
    summary = gates.new_empty(2, S, N, H)
    summary[:, :, :B] = 0 if initial is None else initial
    attention = gates.new_zeros(S, B, T, T)
    keys, states = gates.new_empty(S, N, A), gates.new_empty(S, N, 2 * H)
    tables = LSTMNTables(gates, queries, hidden, cell, attention, summary, keys, states)
    attend, rows = _attention(sizes, tables, 2 * weights.attention_vector)
    rows.update(summary_hidden=Rows.of(summary[0], gates), summary_cell=Rows.of(summary[1], gates))
    advance = _layer(sizes, tables)
    starts = advance.starts
    # [U; 2 W_h~], which maps h~ to its part of the gates' arguments and of the next query
    from_summary_weight = torch.cat([weights.weight_hh_l0, 2 * weights.attention_previous], 1)
    for s in range(S):
        attend.point(rows, s)
        weight_summary = products.prepacked(from_summary_weight[s])
        weight_key = products.prepacked(2 * weights.attention_hidden[s])
        from_summary: Optional[Tensor] = None  # (n, 4H + A)
        for t, (start, n) in enumerate(zip(starts, sizes)):
            if t > 0:
                before = starts[t - 1]
                new_keys = products.linear(hidden[s, before : before + n], weight_key)  # (n, A)
                attend.t, attend.n = t, n
                attend.set(new_keys=new_keys, from_summary=from_summary)
                attend.run("attention_forward")
            if t > 0 or initial is not None:
                from_summary = products.linear(summary[0, s, start : start + n], weight_summary)
            advance.run("lstm_forward", s, t, start, from_summary)
    return (hidden, cell, attention), tables


def backward(
    backend: Backend,
    packing: Packing,
    arguments: LSTMNArguments,
    tables: LSTMNTables,
    gradients: Gradients,
    needed: LSTMNArguments,
) -> tuple[Optional[Tensor], Tensor, LSTMNWeights]:
    """Run the backward pass of `forward`."""
    inputs, _, weights = arguments
    tables = tables._replace(gates=writable(tables.gates))
    sizes, products = packing.sizes, backend.products
    (S, N, A), B, T = tables.queries.shape, sizes[0], len(sizes)
    new = tables.gates.new_empty
    H = tables.hidden.size(2)
    # The gradients of the tapes. The gradient of its summary overwrites a row that is complete.
    grad_tapes = torch.zeros_like(tables.summary)  # (2, S, N, H)
    for grad, outer_grad in zip(grad_tapes, gradients):
        if outer_grad is not None:
            grad.copy_(outer_grad)
    grad_attention = gradients[2] if gradients[2] is None else gradients[2].contiguous()
    grad_keys, grad_queries = torch.zeros_like(tables.queries), torch.empty_like(tables.queries)
    grad_queries[:, :B] = 0  # the first step attends to nothing
    grad_vector = tables.gates.new_zeros(S, num_threads(), A)
    attend, rows = _attention(sizes, tables, 4 * weights.attention_vector)
    attend.set(
        query_factors=new(N, A),
        queries_within=torch.empty(N, dtype=torch.int8, device="cpu"),
        grad_summaries=new(N, 2 * H),
        grad_scores=new(B, T, T),
    )
    of_directions = {
        "grad_attention": grad_attention,
        "grad_keys": grad_keys,
        "grad_queries": grad_queries,
        "grad_vector": grad_vector,
        "grad_hidden": grad_tapes[0],
        "grad_cell": grad_tapes[1],
    }
    rows.update((name, Rows.of(x, grad_tapes)) for name, x in of_directions.items())
    retreat = _layer(
        sizes,
        tables,
        {"grad_left_weight": tables.gates.new_zeros(S, num_threads(), H)},  # not used
        grad_gates=tables.gates,
        grad_hidden=grad_tapes[0],
        carried=grad_tapes[1],
    )
    starts, linear, prepacked = retreat.starts, products.linear, products.prepacked
    for s in range(S):
        attend.point(rows, s)
        to_summary, query_to_summary, key_to_hidden = (
            prepacked(weight[s].t().contiguous())
            for weight in (
                weights.weight_hh_l0,
                weights.attention_previous,
                weights.attention_hidden,
            )
        )
        from_keys: Optional[Tensor] = None  # (n, H), from the step after
        for t in range(T - 1, -1, -1):
            n, start = sizes[t], starts[t]
            retreat.run("lstm_backward", s, t, start, from_keys)
            grad_summary = grad_tapes[0, s, start : start + n]  # (n, H)
            grad_summary.copy_(linear(tables.gates[s, start : start + n], to_summary))
            if t + 1 < T:
                next_queries = grad_queries[s, starts[t + 1] : starts[t + 2]]
                grad_summary[: sizes[t + 1]].add_(linear(next_queries, query_to_summary))
            if t > 0:
                attend.t, attend.n = t, n
                attend.run("attention_backward")
                from_keys = linear(grad_keys[s, starts[t - 1] : starts[t - 1] + n], key_to_hidden)
    grad_inputs: Optional[Tensor] = None
    if needed[0]:
        grad_inputs = products.input_gradient(weights.weight_ih_l0, tables.gates)
        grad_inputs.add_(products.input_gradient(weights.attention_input, grad_queries))
    summary_hidden = tables.summary[0]
    factors = {
        "weight_ih_l0": (inputs, tables.gates),
        "weight_hh_l0": (summary_hidden, tables.gates),
        "attention_hidden": (tables.hidden, grad_keys),
        "attention_input": (inputs, grad_queries),
        "attention_previous": (packing.previous(summary_hidden), grad_queries[:, B:]),
    }
    of_weights = {
        name: stack(products.weight_gradients(*pair))
        for name, pair in factors.items()
        if getattr(needed[2], name)
    }
    grad_weights = weights._replace(
        **of_weights, bias_l0=tables.gates.sum(1), attention_vector=2 * grad_vector.sum(1)
    )
    return grad_inputs, grad_tapes[:, :, :B], grad_weights


def _attention(
    sizes: list[int], tables: LSTMNTables, vector: Tensor
) -> tuple[Attention, dict[str, Rows]]:
    """Return the arguments of a step that both passes have, and the tables of the directions."""
    (N, A), H, T = tables.queries.shape[1:], tables.cell.size(2), len(sizes)
    lengths = lengths_of(sizes)  # (B)
    new = tables.cell.new_empty
    attend = Attention(
        tables.cell,
        num_steps=T,
        H=H,
        A=A,
        first=torch.tensor([0, *accumulate(sizes)], device="cpu"),
        start=lengths.cumsum(0) - lengths,
        lengths=lengths,
        # Of one direction at a time
        buffer=new(num_threads(), 2 * T + 2 * H + A),
        key_factors=new(N, A),
        keys_within=torch.empty(N, dtype=torch.int8, device="cpu"),
    )
    names = ("keys", "states", "queries", "attention", "hidden", "cell")
    rows = {name: Rows.of(getattr(tables, name), tables.cell) for name in names}
    return attend, {"vector": Rows.of(vector, vector), **rows}


def _layer(
    sizes: list[int],
    tables: LSTMNTables,
    of_directions: Optional[dict[str, Optional[Tensor]]] = None,
    **of_tokens: Tensor,
) -> GatedLayer:
    """Return the steps of the LSTM whose state is the summary."""
    S, _, H = tables.cell.shape
    return GatedLayer(
        sizes,
        tables.summary[1],
        {"left_weight": tables.cell.new_ones(S, 1, H), **(of_directions or {})},
        x=tables.gates,
        gates=tables.gates,
        hidden=tables.hidden,
        cell=tables.cell,
        **of_tokens,
    )
