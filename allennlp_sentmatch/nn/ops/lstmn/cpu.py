r"""The LSTMN's recurrence compiled for CPUs, with a single pass over the tapes per step.

A token's key W_h h_i is computed once, when its state is written to the tapes, and h~ is multiplied
once per step, for the gates of this step and the attention of the next. As tanh(x) =
2 sigmoid(2x) - 1 and a softmax is invariant to a constant added to all scores, the scores are

    a_i = 2 v . sigmoid(2 W_h h_i + 2 (W_x x_t + W_h~ h~_{t-1}))

Apart from the attention, this is a step of an LSTM whose state is the summary. The backward pass
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

    Rows of N tokens are packed. In tapes, which a step reads, a sentence's rows are adjacent.

    # Attributes

    gates : `Tensor`
        i, f, g and o, (S, N, 4H).
    queries : `Tensor`
        2 (W_x x_t + W_h~ h~_{t-1}), (S, N, A).
    hidden, cell : `Tensor`
        h and c, (S, N, H) each.
    attention : `Tensor`
        (S, B, T, T), a row for each token over the tokens before it.
    summary : `Tensor`
        h~ and c~, (2, S, N, H).
    keys : `Tensor`
        A tape of 2 W_h h, (S, N, A).
    states : `Tensor`
        A tape of [h; c], (S, N, 2H).
    """

    gates: Tensor
    queries: Tensor
    hidden: Tensor
    cell: Tensor
    attention: Tensor
    summary: Tensor
    keys: Tensor
    states: Tensor


class Attention(Arguments):
    """The arguments of a step's attention; native/_lstmn_attention.cpp describes them.

    `t` is the token that attends to those before it, and `n` the number of sentences that have it.
    """

    _fields_ = fields(
        "n t num_steps H A",
        "first start lengths keys states queries vector attention hidden cell summary_hidden "
        "summary_cell new_keys from_summary buffer key_factors query_factors keys_within "
        "queries_within grad_attention grad_keys grad_queries grad_vector grad_hidden grad_cell "
        "grad_summaries grad_scores",
    )


def forward(
    backend: Backend,
    packing: Packing,
    arguments: LSTMNArguments,
    keep: bool,
) -> tuple[tuple[Tensor, Tensor, Tensor], LSTMNTables]:
    """Run the steps of a batch that has a token.

    Return the tapes h and c, (S, N, H) each, and the attention, (S, B, T, T); and the tables.
    """
    inputs, initial, weights = arguments
    products = backend.products
    sizes = packing.sizes
    tables = _new_tables(backend, sizes, inputs, weights)
    summary_hidden, summary_cell = tables.summary
    tables.summary[:, :, : sizes[0]] = 0 if initial is None else initial
    attend, rows = _attention(sizes, tables, 2 * weights.attention_vector)
    rows["summary_hidden"] = Rows.of(summary_hidden, tables.gates)
    rows["summary_cell"] = Rows.of(summary_cell, tables.gates)
    advance = _layer(sizes, tables)
    starts = advance.starts
    # [U; 2 W_h~], which maps h~ to its part of the gates' arguments and of the next query
    for_query = 2 * weights.attention_previous
    from_summary_weight = torch.cat([weights.weight_hh_l0, for_query], 1)
    for s in range(len(inputs)):
        attend.point(rows, s)
        weight_summary = products.prepacked(from_summary_weight[s])
        weight_key = products.prepacked(2 * weights.attention_hidden[s])
        from_summary: Optional[Tensor] = None  # (n, 4H + A)
        for t, (start, n) in enumerate(zip(starts, sizes)):
            if t > 0:
                before = starts[t - 1]
                states_before = tables.hidden[s, before : before + n]  # (n, H)
                new_keys = products.linear(states_before, weight_key)  # (n, A)
                attend.t = t
                attend.n = n
                attend.set(new_keys=new_keys, from_summary=from_summary)
                attend.run("attention_forward")
            if t > 0 or initial is not None:
                summaries = summary_hidden[s, start : start + n]  # (n, H)
                from_summary = products.linear(summaries, weight_summary)
            advance.run("lstm_forward", s, t, start, from_summary)
    return (tables.hidden, tables.cell, tables.attention), tables


def _new_tables(
    backend: Backend,
    sizes: list[int],
    inputs: Tensor,
    weights: LSTMNWeights,
) -> LSTMNTables:
    """Make the tables of a forward pass over packed inputs (S, N, D).

    The gates have W x + b, and the queries 2 W_x x; the other tables have no values yet, except for
    the attention, which is zero.
    """
    S, N, _ = inputs.shape
    B = sizes[0]
    T = len(sizes)
    A, H = weights.attention_hidden.shape[1:]
    affine = backend.products.affine
    gates = affine(inputs, weights.weight_ih_l0, weights.bias_l0)
    no_bias = torch.zeros_like(weights.attention_vector)
    return LSTMNTables(
        gates=gates,
        queries=affine(inputs, 2 * weights.attention_input, no_bias),
        hidden=gates.new_empty(S, N, H),
        cell=gates.new_empty(S, N, H),
        attention=gates.new_zeros(S, B, T, T),
        summary=gates.new_empty(2, S, N, H),
        keys=gates.new_empty(S, N, A),
        states=gates.new_empty(S, N, 2 * H),
    )


class TapeGradients(NamedTuple):
    """The gradients of the tapes' contents, for S directions and N tokens, and of the vector v.

    # Attributes

    tapes : `Tensor`
        h and c, (2, S, N, H). A complete row is overwritten with the gradient of its summary.
    keys, queries : `Tensor`
        (S, N, A) each.
    vector : `Tensor`
        Each thread's part of the gradient, (S, threads, A).
    """

    tapes: Tensor
    keys: Tensor
    queries: Tensor
    vector: Tensor


def backward(
    backend: Backend,
    packing: Packing,
    arguments: LSTMNArguments,
    tables: LSTMNTables,
    gradients: Gradients,
    needed: LSTMNArguments,
) -> tuple[Optional[Tensor], Tensor, LSTMNWeights]:
    """Run the backward pass of `forward`.

    Return the gradients of the inputs, of h~ and c~ at the first step, and of the weights.
    """
    inputs, _, weights = arguments
    needed_inputs, _, needed_weights = needed
    products = backend.products
    num_sentences = packing.sizes[0]
    grad_gates = writable(tables.gates)
    tables = tables._replace(gates=grad_gates)
    grad = _new_gradients(tables, gradients, num_sentences)
    _retrace(backend, packing.sizes, weights, tables, grad, gradients[2])
    grad_inputs = None
    if needed_inputs:
        grad_inputs = products.input_gradient(weights.weight_ih_l0, grad_gates)
        by_queries = products.input_gradient(weights.attention_input, grad.queries)
        grad_inputs.add_(by_queries)
    summary_hidden = tables.summary[0]
    previous_summary = packing.previous(summary_hidden)
    # For each weight: its factor, and the gradient of the product.
    factors = {
        "weight_ih_l0": (inputs, grad_gates),
        "weight_hh_l0": (summary_hidden, grad_gates),
        "attention_hidden": (tables.hidden, grad.keys),
        "attention_input": (inputs, grad.queries),
        "attention_previous": (previous_summary, grad.queries[:, num_sentences:]),
    }
    of_weights: dict[str, Tensor] = {}
    for name, (factor, grad_product) in factors.items():
        if getattr(needed_weights, name):
            of_directions = products.weight_gradients(factor, grad_product)
            of_weights[name] = stack(of_directions)
    grad_weights = weights._replace(
        **of_weights,
        bias_l0=grad_gates.sum(1),
        attention_vector=2 * grad.vector.sum(1),
    )
    return grad_inputs, grad.tapes[:, :, :num_sentences], grad_weights


def _new_gradients(
    tables: LSTMNTables,
    gradients: Gradients,
    num_sentences: int,
) -> TapeGradients:
    """Make the gradients that the steps add to.

    The gradients of the tapes begin with the incoming `gradients` of the outputs h and c.
    """
    tapes = torch.zeros_like(tables.summary)
    for tape, outer_gradient in zip(tapes, gradients):
        if outer_gradient is not None:
            tape.copy_(outer_gradient)
    queries = torch.empty_like(tables.queries)
    queries[:, :num_sentences] = 0  # the first step attends to nothing
    S, _, A = tables.queries.shape
    vector = tables.gates.new_zeros(S, num_threads(), A)
    return TapeGradients(tapes, torch.zeros_like(tables.queries), queries, vector)


def _retrace(
    backend: Backend,
    sizes: list[int],
    weights: LSTMNWeights,
    tables: LSTMNTables,
    grad: TapeGradients,
    grad_attention: Optional[Tensor],
) -> None:
    """Run the steps from the last to the first.

    They complete `grad`, and overwrite the tables' gates with the gradients of the gates'
    arguments. `grad_attention` is the incoming gradient of the attention (S, B, T, T), if there is
    one.
    """
    S, _, H = tables.hidden.shape
    attend, rows = _attention_backward(sizes, tables, weights, grad, grad_attention)
    # The step writes it, although an LSTM's left weight is constant.
    unused = tables.gates.new_zeros(S, num_threads(), H)
    retreat = _layer(
        sizes,
        tables,
        {"grad_left_weight": unused},
        grad_gates=tables.gates,
        grad_hidden=grad.tapes[0],
        carried=grad.tapes[1],
    )
    starts = retreat.starts
    linear = backend.products.linear
    for s in range(S):
        attend.point(rows, s)
        gates_to_summary = _transposed(backend, weights.weight_hh_l0[s])
        query_to_summary = _transposed(backend, weights.attention_previous[s])
        key_to_hidden = _transposed(backend, weights.attention_hidden[s])
        from_keys: Optional[Tensor] = None  # (n, H), from the next step
        for t in reversed(range(len(sizes))):
            n = sizes[t]
            start = starts[t]
            retreat.run("lstm_backward", s, t, start, from_keys)
            grad_gates = tables.gates[s, start : start + n]  # (n, 4H)
            grad_summary = grad.tapes[0, s, start : start + n]  # (n, H)
            grad_summary.copy_(linear(grad_gates, gates_to_summary))
            if t + 1 < len(sizes):
                grad_queries = grad.queries[s, starts[t + 1] : starts[t + 2]]
                by_queries = linear(grad_queries, query_to_summary)
                grad_summary[: sizes[t + 1]].add_(by_queries)
            if t > 0:
                attend.t = t
                attend.n = n
                attend.run("attention_backward")
                before = starts[t - 1]
                grad_keys = grad.keys[s, before : before + n]  # (n, A)
                from_keys = linear(grad_keys, key_to_hidden)


def _transposed(backend: Backend, weight: Tensor) -> Tensor:
    """Prepare the transpose of a weight (M, K) for products with it."""
    return backend.products.prepacked(weight.t().contiguous())


def _attention_backward(
    sizes: list[int],
    tables: LSTMNTables,
    weights: LSTMNWeights,
    grad: TapeGradients,
    grad_attention: Optional[Tensor],
) -> tuple[Attention, dict[str, Rows]]:
    """Return the arguments of a backward step, and the tables of the directions.

    `grad_attention` is the incoming gradient of the attention (S, B, T, T), if there is one.
    """
    _, N, A = tables.queries.shape
    H = tables.hidden.size(2)
    B = sizes[0]
    T = len(sizes)
    new = tables.gates.new_empty
    attend, rows = _attention(sizes, tables, 4 * weights.attention_vector)
    attend.set(
        query_factors=new(N, A),
        queries_within=torch.empty(N, dtype=torch.int8, device="cpu"),
        grad_summaries=new(N, 2 * H),
        grad_scores=new(B, T, T),
    )
    if grad_attention is not None:
        grad_attention = grad_attention.contiguous()
    of_directions = {
        "grad_attention": grad_attention,
        "grad_keys": grad.keys,
        "grad_queries": grad.queries,
        "grad_vector": grad.vector,
        "grad_hidden": grad.tapes[0],
        "grad_cell": grad.tapes[1],
    }
    for name, table in of_directions.items():
        rows[name] = Rows.of(table, grad.tapes)
    return attend, rows


def _attention(
    sizes: list[int],
    tables: LSTMNTables,
    vector: Tensor,
) -> tuple[Attention, dict[str, Rows]]:
    """Return the arguments of a step in both passes, and the tables of the directions.

    `vector` (S, A) is v with the factor of the pass.
    """
    _, N, A = tables.queries.shape
    H = tables.cell.size(2)
    T = len(sizes)
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
        # For one direction at a time
        buffer=new(num_threads(), 2 * T + 2 * H + A),
        key_factors=new(N, A),
        keys_within=torch.empty(N, dtype=torch.int8, device="cpu"),
    )
    rows = {"vector": Rows.of(vector, vector)}
    for name in ("keys", "states", "queries", "attention", "hidden", "cell"):
        table: Tensor = getattr(tables, name)
        rows[name] = Rows.of(table, tables.cell)
    return attend, rows


def _layer(
    sizes: list[int],
    tables: LSTMNTables,
    of_directions: Optional[dict[str, Optional[Tensor]]] = None,
    **of_tokens: Tensor,
) -> GatedLayer:
    """Return the steps of the LSTM whose state is the summary.

    `of_directions` and `of_tokens` are the tables of the backward pass, as in `GatedLayer`.
    """
    S, _, H = tables.cell.shape
    ones = tables.cell.new_ones(S, 1, H)
    return GatedLayer(
        sizes,
        tables.summary[1],
        {"left_weight": ones, **(of_directions or {})},
        x=tables.gates,
        gates=tables.gates,
        hidden=tables.hidden,
        cell=tables.cell,
        **of_tokens,
    )
