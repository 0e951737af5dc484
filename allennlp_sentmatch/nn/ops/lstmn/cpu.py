r"""The steps of the LSTMN compiled for CPUs, with a single pass over the tapes per step.

Apart from the attention, a step is that of an LSTM whose state is the summary.
"""

from itertools import accumulate
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm.cpu import NativeLayer
from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerGradients, LayerTables
from allennlp_sentmatch.nn.ops.common import native
from allennlp_sentmatch.nn.ops.common.native import Arguments, Rows, address, check_sizes, fields
from allennlp_sentmatch.nn.ops.common.packing import lengths_of
from allennlp_sentmatch.nn.ops.lstmn.tables import (
    LSTMNGradients,
    LSTMNOutputGradients,
    LSTMNTables,
    Tapes,
)
from allennlp_sentmatch.nn.ops.lstmn.weights import LSTMNWeights, from_summary_and_hidden


def forward(
    backend: Backend,
    sizes: list[int],
    weights: LSTMNWeights,
    gates: Tensor,
    queries: Tensor,
    initial: Optional[Tensor],
) -> tuple[LSTMNTables, Tapes]:
    """Run the steps.

    # Parameters

    backend : `Backend`
    sizes : `list[int]`
        The number of sentences at each step.
    weights : `LSTMNWeights`
        The weights of S directions, stacked.
    gates : `Tensor`
        Shape (S, N, 4H): W x + b. The gates overwrite it.
    queries : `Tensor`
        Shape (S, N, A): 2 W_x x_t. The queries overwrite it.
    initial : `Optional[Tensor]`
        Shape (2, S, B, H): h~ and c~ at the first step.
    """
    S, N, A = queries.shape
    B, T, H = sizes[0], len(sizes), gates.size(-1) // 4
    hidden, cell = gates.new_empty(2, S, N, H)
    summary = gates.new_empty(2, S, N, H)
    summary[:, :, :B] = 0 if initial is None else initial
    attention = gates.new_zeros(S, B, T, T)
    tapes = Tapes(gates.new_empty(S, N, A), gates.new_empty(S, N, 2 * H))
    tables = LSTMNTables(gates, queries, hidden, cell, attention, summary)
    attend = NativeAttention(sizes, tables, tapes, 2 * weights.attention_vector)
    advance = NativeLayer(_as_layer(sizes, tables), summary[1])
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
            advance.forward(s, start, start, n, from_summary)
    return tables, tapes


def backward(
    backend: Backend,
    sizes: list[int],
    weights: LSTMNWeights,
    tables: LSTMNTables,
    tapes: Tapes,
    outer: LSTMNOutputGradients,
) -> LSTMNGradients:
    """Run the steps' backward pass; the gradients of the gates' arguments overwrite the gates."""
    S, _, A = tables.queries.shape
    B, T = sizes[0], len(sizes)
    # The gradients of the tapes. Once a row is complete, that of its summary overwrites it.
    grad_tapes = torch.zeros_like(tables.summary)  # (2, S, N, H)
    for grad, outer_grad in zip(grad_tapes, (outer.hidden, outer.cell)):
        if outer_grad is not None:
            grad.copy_(outer_grad)
    grad_keys, grad_queries = torch.zeros_like(tables.queries), torch.empty_like(tables.queries)
    grad_queries[:, :B] = 0  # the first step attends to nothing
    grad_vector = tables.gates.new_zeros(S, native.num_threads(), A)
    grads = LSTMNGradients(
        tables.gates, grad_queries, grad_keys, grad_vector, initial=grad_tapes[:, :, :B]
    )
    attend = NativeAttentionBackward(
        sizes,
        tables,
        tapes,
        4 * weights.attention_vector,
        outer.attention,
        grad_tapes,
        grads,
    )
    layer_grads = LayerGradients(grad_tapes[0], None, None, None)
    layer = _as_layer(sizes, tables)
    retreat = NativeLayer(layer, tables.summary[1], layer_grads, carried=grad_tapes[1])
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
            retreat.backward(s, start, start, n, following, from_keys)
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


class AttentionStep(Arguments):
    """The arguments of a step's attention; native/_lstmn_attention.cpp describes them."""

    _fields_ = fields(
        "n t num_steps H A from_summary_width",
        "start keys states vector hidden cell new_keys from_summary query attention "
        "summary_hidden summary_cell buffer key_factors are_within",
    )


class AttentionStepBackward(Arguments):
    """Those of its derivative."""

    _fields_ = fields(
        "n t num_steps H A",
        "first start lengths keys states queries vector attention grad_attention grad_hidden "
        "grad_cell grad_keys grad_query grad_vector buffer key_factors query_factors keys_within "
        "queries_within grad_summaries grad_scores",
    )


class NativeAttention:
    """The attention of the forward steps over their tables.

    # Parameters

    sizes : `list[int]`
        The number of sentences at each step.
    tables : `LSTMNTables`
    tapes : `Tapes`
    vector : `Tensor`
        Shape (S, A): 2 v.

    # Raises

    `ValueError`
        If a table has the wrong shape, precision or device, or is not contiguous.
    """

    def __init__(self, sizes: list[int], tables: LSTMNTables, tapes: Tapes, vector: Tensor) -> None:
        like = self._like = vector
        S, N, H = (tables.cell.size(i) for i in range(3))
        A, T = tables.queries.size(2), len(sizes)
        self._layout = _Layout(sizes, N)
        self._direction: Optional[int] = None  # of the last step
        self._by_direction = _rows_of_directions(sizes, tables, tapes, vector)
        state, query = (S, N, H), (S, N, A)
        # The rows of the step before, and of the step
        self._before = {
            "hidden": Rows.of(tables.hidden, state, like),
            "cell": Rows.of(tables.cell, state, like),
        }
        self._at = {
            "query": Rows.of(tables.queries, query, like),
            "summary_hidden": Rows.of(tables.summary[0], state, like),
            "summary_cell": Rows.of(tables.summary[1], state, like),
        }
        # Of one direction at a time
        buffer, key_factors = like.new_empty(native.num_threads(), 2 * H + A), like.new_empty(N, A)
        are_within = torch.empty(N, dtype=torch.int8, device="cpu")
        self._buffers = (buffer, key_factors, are_within)
        self._step = AttentionStep(
            like,
            num_steps=T,
            H=H,
            A=A,
            from_summary_width=4 * H + A,
            start=self._layout.start.data_ptr(),
            buffer=buffer.data_ptr(),
            key_factors=key_factors.data_ptr(),
            are_within=are_within.data_ptr(),
        )

    def run(self, s: int, t: int, new_keys: Tensor, from_summary: Optional[Tensor]) -> None:
        """Run step `t` > 0 of direction `s`.

        `new_keys`, (sizes[t], A), are those of the tokens of the step before. `from_summary` is
        [U h~; 2 W_h~ h~] of that step, (sizes[t - 1], 4H + A), whose second part is added to the
        queries; `None` is zero.
        """
        step, like, layout = self._step, self._like, self._layout
        H, A = step.H, step.A
        step.t, step.n = t, layout.sizes[t]
        if s != self._direction:
            self._direction = s
            step.point(self._by_direction, s)
        step.point(self._before, s, layout.starts[t - 1])
        step.point(self._at, s, layout.starts[t])
        step.new_keys = address(new_keys, (step.n, A), like)
        from_before = address(from_summary, (layout.sizes[t - 1], 4 * H + A), like)
        step.from_summary = from_before and from_before + 4 * H * like.element_size()
        step.run("attention_forward")


class NativeAttentionBackward:
    """The attention of the backward steps over their tables.

    # Parameters

    sizes : `list[int]`
        The number of sentences at each step.
    tables : `LSTMNTables`
    tapes : `Tapes`
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
        tapes: Tapes,
        scale: Tensor,
        grad_attention: Optional[Tensor],
        grad_tapes: Tensor,
        grads: LSTMNGradients,
    ) -> None:
        if grad_attention is not None:
            grad_attention = grad_attention.contiguous()
        like = scale
        S, N, H = (tables.cell.size(i) for i in range(3))
        A, T, B = tables.queries.size(2), len(sizes), sizes[0]
        self._layout = _Layout(sizes, N)
        state, query, threads = (S, N, H), (S, N, A), native.num_threads()
        self._by_direction = {
            **_rows_of_directions(sizes, tables, tapes, scale),
            "queries": Rows.of(tables.queries, query, like),
            "grad_attention": Rows.of(grad_attention, (S, B, T, T), like),
            "grad_hidden": Rows.of(grad_tapes[0], state, like),
            "grad_cell": Rows.of(grad_tapes[1], state, like),
            "grad_keys": Rows.of(grads.keys, query, like),
            "grad_vector": Rows.of(grads.vector, (S, threads, A), like),
        }
        self._grad_queries = Rows.of(grads.queries, query, like)
        # Of one direction at a time
        self._buffers = {
            "buffer": like.new_empty(threads, 2 * T + 2 * H + A),
            "key_factors": like.new_empty(N, A),
            "query_factors": like.new_empty(N, A),
            "keys_within": torch.empty(N, dtype=torch.int8, device="cpu"),
            "queries_within": torch.empty(N, dtype=torch.int8, device="cpu"),
            "grad_summaries": like.new_empty(N, 2 * H),
            "grad_scores": like.new_empty(B, T, T),
        }
        self._step = AttentionStepBackward(
            like,
            num_steps=T,
            H=H,
            A=A,
            first=self._layout.first.data_ptr(),
            start=self._layout.start.data_ptr(),
            lengths=self._layout.lengths.data_ptr(),
            **{name: x.data_ptr() for name, x in self._buffers.items()},
        )

    def run(self, s: int, t: int) -> None:
        """Run step `t` > 0 of direction `s` backward; its steps follow each other."""
        step = self._step
        step.t, step.n = t, self._layout.sizes[t]
        step.point(self._by_direction, s)
        step.grad_query = self._grad_queries.at(s, self._layout.starts[t])
        step.run("attention_backward")


class _Layout:
    """The first rows of steps, and of sentences in tapes."""

    def __init__(self, sizes: list[int], num_rows: int) -> None:
        check_sizes(sizes, num_rows)
        self.sizes, self.starts = sizes, [0, *accumulate(sizes)]
        self.first = torch.tensor(self.starts, device="cpu")  # (T + 1)
        self.lengths = lengths_of(sizes)  # (B)
        self.start = self.lengths.cumsum(0) - self.lengths  # (B)


def _rows_of_directions(
    sizes: list[int], tables: LSTMNTables, tapes: Tapes, vector: Tensor
) -> dict[str, Rows]:
    """The tables that both passes take whole."""
    S, N, A = (tables.queries.size(i) for i in range(3))
    return {
        "keys": Rows.of(tapes.keys, (S, N, A), vector),
        "states": Rows.of(tapes.states, (S, N, 2 * tables.cell.size(2)), vector),
        "vector": Rows.of(vector.unsqueeze(1), (S, 1, A), vector),
        "attention": Rows.of(tables.attention, (S, sizes[0], len(sizes), len(sizes)), vector),
    }


def _as_layer(sizes: list[int], tables: LSTMNTables) -> LayerTables:
    """Return the tables of the LSTM that the steps are but for the attention."""
    return LayerTables(sizes, [], tables.gates, tables.hidden, tables.cell, None, 1.0, 1.0, None)
