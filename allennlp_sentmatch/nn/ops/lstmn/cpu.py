r"""The steps of the LSTMN compiled for CPUs, with a single pass over the tapes per step.

Apart from the attention, a step is that of an LSTM whose state is the summary. The tables are bound
to the C++ once, checked; then a step is a call with a few numbers.
"""

from itertools import accumulate
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import COMPILED, Backend
from allennlp_sentmatch.nn.ops.common import native_tables
from allennlp_sentmatch.nn.ops.common.native_tables import address, precision_and_threads
from allennlp_sentmatch.nn.ops.lstm.cpu import BoundBackward, BoundForward
from allennlp_sentmatch.nn.ops.lstm.tables import LayerGradients, LayerTables
from allennlp_sentmatch.nn.ops.lstmn.tables import (
    CPUTapes,
    LSTMNGradients,
    LSTMNOutputGradients,
    LSTMNTables,
)
from allennlp_sentmatch.nn.ops.lstmn.weights import LSTMNWeights, from_summary_and_hidden

if COMPILED:
    from allennlp_sentmatch.nn.ops.native import _lstmn_attention


def forward(
    backend: Backend,
    sizes: list[int],
    weights: LSTMNWeights,
    gates: Tensor,
    queries: Tensor,
    initial: Optional[Tensor],
) -> tuple[LSTMNTables, CPUTapes]:
    """Run the steps; the parameters are those of `eager.forward`."""
    S, N, A = queries.shape
    B, T, H = sizes[0], len(sizes), gates.size(-1) // 4
    hidden, cell = gates.new_empty(2, S, N, H)
    summary = gates.new_empty(2, S, N, H)
    summary[:, :, :B] = 0 if initial is None else initial
    attention = gates.new_zeros(S, B, T, T)
    tapes = CPUTapes(gates.new_empty(S, N, A), gates.new_empty(S, N, 2 * H))
    tables = LSTMNTables(gates, queries, hidden, cell, attention, summary)
    attend = BoundAttention(sizes, tables, tapes, 2 * weights.attention_vector)
    advance = BoundForward(_as_layer(sizes, tables), summary[1], recurrent_width=4 * H + A)
    linear, prepacked = backend.products.linear, backend.products.prepacked
    starts = [0, *accumulate(sizes)]
    for s, (weight_summary, weight_key) in enumerate(zip(*from_summary_and_hidden(weights))):
        weight_summary, weight_key = prepacked(weight_summary), prepacked(weight_key)
        from_summary: Optional[Tensor] = None  # (n, 4H + A): for the gates and the next query
        for t, (start, n) in enumerate(zip(starts, sizes)):
            if t > 0:
                before = starts[t - 1]
                new_keys = linear(hidden[s, before : before + n], weight_key)  # (n, A)
                attend.run(s, t, new_keys, from_summary)
            if t > 0 or initial is not None:
                from_summary = linear(summary[0, s, start : start + n], weight_summary)
            advance.run(s, start, start, n, from_summary)
    return tables, tapes


def backward(
    backend: Backend,
    sizes: list[int],
    weights: LSTMNWeights,
    tables: LSTMNTables,
    tapes: tuple[Tensor, Tensor],
    outer: LSTMNOutputGradients,
) -> LSTMNGradients:
    """Run the steps' backward pass; the parameters are those of `eager.backward`."""
    S, _, A = tables.queries.shape
    B, T = sizes[0], len(sizes)
    # The gradients of the tapes. Once a row is complete, that of its summary overwrites it.
    grad_tapes = torch.zeros_like(tables.summary)  # (2, S, N, H)
    for grad, outer_grad in zip(grad_tapes, (outer.hidden, outer.cell)):
        if outer_grad is not None:
            grad.copy_(outer_grad)
    grad_keys, grad_queries = torch.zeros_like(tables.queries), torch.empty_like(tables.queries)
    grad_queries[:, :B] = 0  # the first step attends to nothing
    grad_vector = tables.gates.new_zeros(S, native_tables.num_threads(), A)
    grads = LSTMNGradients(
        tables.gates, grad_queries, grad_keys, grad_vector, initial=grad_tapes[:, :, :B]
    )
    attend = BoundAttentionBackward(
        sizes,
        tables,
        CPUTapes(*tapes),
        4 * weights.attention_vector,
        outer.attention,
        grad_tapes,
        grads,
    )
    layer_grads = LayerGradients(grad_tapes[0], None, None, None)
    layer = _as_layer(sizes, tables)
    retreat = BoundBackward(layer, tables.summary[1], layer_grads, carried=grad_tapes[1])
    linear, prepacked = backend.products.linear, backend.products.prepacked
    starts = [0, *accumulate(sizes)]
    for s in range(S):
        to_summary, query_to_summary, key_to_hidden = (
            prepacked(weight[s].t().contiguous())
            for weight in (
                weights.weight_hh_l0,
                weights.attention_previous,
                weights.attention_hidden,
            )
        )
        from_keys, following = None, 0
        for t in range(T - 1, -1, -1):
            n, start = sizes[t], starts[t]
            retreat.run(s, start, start, n, following, from_keys)
            grad_summary = grad_tapes[0, s, start : start + n]  # (n, H)
            grad_summary.copy_(linear(tables.gates[s, start : start + n], to_summary))
            if following:
                next_queries = grad_queries[s, starts[t + 1] : starts[t + 2]]
                grad_summary[:following].add_(linear(next_queries, query_to_summary))
            if t > 0:
                attend.run(s, t)
                following, rows = n, slice(starts[t - 1], starts[t - 1] + n)
                from_keys = linear(grad_keys[s, rows], key_to_hidden)  # (n, H)
    return grads._replace(vector=2 * grad_vector.sum(1))


class BoundAttention:
    """The attention of the forward steps over bound tables.

    # Parameters

    sizes : `list[int]`
        The number of sentences at each step.
    tables : `LSTMNTables`
    tapes : `CPUTapes`
    vector : `Tensor`
        Shape (S, A): 2 v.

    # Raises

    `ValueError`
        If a table has the wrong shape, precision or device, or is not contiguous.
    """

    def __init__(
        self, sizes: list[int], tables: LSTMNTables, tapes: CPUTapes, vector: Tensor
    ) -> None:
        # The C++ has no references to the tables.
        self._tables, self._vector, self._sizes = (tables, tapes), vector, sizes
        sizes_table = torch.tensor(sizes, device="cpu")  # which the C++ copies
        shape, like = tuple(tables.cell.shape), tables.cell
        self._H, self._A = tables.cell.size(-1), tables.queries.size(-1)
        self._bound = _lstmn_attention.bind_forward(
            *_addresses(sizes_table, tables, tapes, vector),
            address(tables.hidden, shape, like),
            address(like, shape, like),
            address(tables.summary[0], shape, like),
            address(tables.summary[1], shape, like),
        )

    def run(self, s: int, t: int, new_keys: Tensor, from_summary: Optional[Tensor]) -> None:
        """Run step `t` > 0 of direction `s`.

        `new_keys`, (sizes[t], A), are those of the tokens of the step before. `from_summary` is
        [U h~; 2 W_h~ h~] of that step, (sizes[t - 1], 4H + A), whose second part is added to the
        queries; `None` is zero.
        """
        H, A, like = self._H, self._A, self._vector
        _lstmn_attention.run(
            self._bound,
            s,
            t,
            address(new_keys, (self._sizes[t], A), like),
            address(from_summary, (self._sizes[t - 1], 4 * H + A), like),
        )


class BoundAttentionBackward:
    """The attention of the backward steps over bound tables.

    # Parameters

    sizes : `list[int]`
        The number of sentences at each step.
    tables : `LSTMNTables`
    tapes : `CPUTapes`
    scale : `Tensor`
        Shape (S, A): 4 v.
    grad_attention : `Optional[Tensor]`
        Shape (S, B, T, T).
    grad_tapes : `Tensor`
        Shape (2, S, N, H): the gradients of h~ and c~ from step t on, before it of h and c.
    grads : `LSTMNGradients`
        Its `vector` is a buffer (S, number of threads, A).

    # Raises

    `ValueError`
        If a table has the wrong shape, precision or device, or is not contiguous.
    """

    def __init__(
        self,
        sizes: list[int],
        tables: LSTMNTables,
        tapes: CPUTapes,
        scale: Tensor,
        grad_attention: Optional[Tensor],
        grad_tapes: Tensor,
        grads: LSTMNGradients,
    ) -> None:
        if grad_attention is not None:
            grad_attention = grad_attention.contiguous()
        sizes_table = torch.tensor(sizes, device="cpu")  # which the C++ copies
        shape, like = tuple(tables.cell.shape), tables.cell
        (S, N, A), (B, T), H = tables.queries.shape, tables.attention.shape[1:3], like.size(-1)
        # Of one direction at a time: the factors of keys and queries, the tape of the summaries'
        # gradients, and the gradients of scores
        buffers = [
            *like.new_empty(2, N, A),
            like.new_empty(N, 2 * H),
            like.new_empty(B, T, T),
        ]
        # The C++ has no references to the tables.
        self._tables = (tables, tapes, scale, grad_attention, grad_tapes, grads, buffers)
        self._bound = _lstmn_attention.bind_backward(
            *_addresses(sizes_table, tables, tapes, scale),
            address(grad_attention, tuple(tables.attention.shape), like),
            address(grad_tapes[0], shape, like),
            address(grad_tapes[1], shape, like),
            address(grads.keys, (S, N, A), like),
            address(grads.queries, (S, N, A), like),
            address(grads.vector, (S, native_tables.num_threads(), A), like),
            *(address(x, tuple(x.shape), like) for x in buffers),
        )

    def run(self, s: int, t: int) -> None:
        """Run step `t` > 0 of direction `s` backward; its steps follow each other."""
        _lstmn_attention.run(self._bound, s, t)


def _addresses(sizes: Tensor, tables: LSTMNTables, tapes: CPUTapes, vector: Tensor) -> list[int]:
    """Return the first arguments of both `bind` functions."""
    like, B, T = tables.cell, int(sizes[0]), len(sizes)
    S, N, H = tuple(like.shape)
    A = tables.queries.size(-1)
    return [
        *precision_and_threads(like),
        S,
        N,
        H,
        A,
        T,
        address(sizes, (T,), sizes),
        address(tapes.keys, (S, N, A), like),
        address(tapes.states, (S, N, 2 * H), like),
        address(tables.queries, (S, N, A), like),
        address(vector, (S, A), like),
        address(tables.attention, (S, B, T, T), like),
    ]


def _as_layer(sizes: list[int], tables: LSTMNTables) -> LayerTables:
    """Return the tables of the LSTM that the steps are but for the attention."""
    return LayerTables(sizes, [], tables.gates, tables.hidden, tables.cell, None, 1.0, 1.0, None)
