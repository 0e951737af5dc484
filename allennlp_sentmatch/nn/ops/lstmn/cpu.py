r"""The steps of the LSTMN compiled for CPUs, with a single pass over the tapes per step.

Apart from the attention, a step is that of an LSTM whose state is the summary.
"""

from contextlib import suppress
from itertools import accumulate
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.native_tables import Rows, threads
from allennlp_sentmatch.nn.ops.common.products import product, reordered
from allennlp_sentmatch.nn.ops.lstmn.tables import (
    Gradients,
    OutputGradients,
    Tables,
    Weights,
    from_summary_and_hidden,
)

with suppress(ImportError):  # they are not called without a compiler
    from allennlp_sentmatch.nn.ops.native import _lstm_steps, _lstmn_attention


def forward(
    sizes: list[int], weights: Weights, gates: Tensor, queries: Tensor, initial: Optional[Tensor]
) -> Tables:
    """Run the steps; the parameters are those of `eager.forward`."""
    S, N, _ = queries.shape
    B, T, H = sizes[0], len(sizes), gates.size(-1) // 4
    hidden, cell = gates.new_empty(2, S, N, H)
    summary = gates.new_empty(2, S, N, H)
    summary[:, :, :B] = 0 if initial is None else initial
    attention = gates.new_zeros(S, B, T, T)
    keys = torch.empty_like(queries)
    tables = Tables(gates, queries, hidden, cell, attention, summary, keys, None)
    step_weights = from_summary_and_hidden(weights)
    vectors = 2 * weights.attention_vector
    for s in range(S):
        weight_summary, weight_key = (reordered(weight[s]) for weight in step_weights)
        _forward_direction(
            sizes, tables, s, weight_summary, weight_key, vectors[s], initial is not None
        )
    return tables


def _forward_direction(
    sizes: list[int],
    tables: Tables,
    s: int,
    weight_summary: Tensor,
    weight_key: Tensor,
    vector: Tensor,
    starts_from_state: bool,
) -> None:
    """Run the steps of direction `s`."""
    T, H, A = len(sizes), tables.hidden.size(-1), tables.queries.size(-1)
    first_rows = torch.tensor([0, *accumulate(sizes)])
    starts = first_rows.tolist()
    is_double = tables.gates.dtype == torch.float64
    ones, zeros = tables.gates.new_ones(H), tables.gates.new_zeros(4 * H)
    gates_at, queries_at, keys_at = (
        Rows(x, s) for x in (tables.gates, tables.queries, tables.keys)
    )
    hidden_at, cell_at, summary_hidden_at, summary_cell_at = (
        Rows(x, s) for x in (tables.hidden, tables.cell, *tables.summary)
    )
    from_summary: Optional[Tensor] = None  # (n, 4H + A): for the gates and the next query
    for t, (start, n) in enumerate(zip(starts, sizes)):
        if t > 0:
            before = slice(starts[t - 1], start)
            tables.keys[s, before] = product(tables.hidden[s, before], weight_key)
            _lstmn_attention.read(
                is_double,
                *threads(n * t * (A + 2 * H)),
                n,
                t,
                T,
                H,
                A,
                4 * H + A,
                first_rows.data_ptr(),
                keys_at[0],
                vector.data_ptr(),
                hidden_at[0],
                cell_at[0],
                0 if from_summary is None else from_summary[:, 4 * H :].data_ptr(),
                queries_at[start],
                tables.attention[s].data_ptr(),
                summary_hidden_at[start],
                summary_cell_at[start],
            )
        has_summary = t > 0 or starts_from_state
        if has_summary:
            from_summary = product(tables.summary[0, s, start : start + n], weight_summary)
        _lstm_steps.read(
            is_double,
            *threads(n * 4 * H),
            n,
            n if has_summary else 0,
            H,
            4 * H + A,
            gates_at[start],
            0 if from_summary is None else from_summary.data_ptr(),
            summary_cell_at[start],
            0,
            ones.data_ptr(),
            0,
            0,
            zeros.data_ptr(),
            hidden_at[start],
            cell_at[start],
        )


def backward(
    sizes: list[int], weights: Weights, tables: Tables, outer: OutputGradients
) -> Gradients:
    """Run the steps' backward pass; the gradients of the gates' arguments overwrite the gates."""
    return _Backward(sizes, weights, tables, outer).run()


class _Backward:
    """The tables of a backward pass, through which it goes from the last step to the first."""

    def __init__(
        self, sizes: list[int], weights: Weights, tables: Tables, outer: OutputGradients
    ) -> None:
        S, _, A = tables.queries.shape
        B, T, H = sizes[0], len(sizes), tables.hidden.size(-1)
        self.sizes, self.weights, self.tables = sizes, weights, tables
        self.scales = 4 * weights.attention_vector
        # The gradients of the tapes. Once a row is complete, that of its summary overwrites it.
        self.grad_tapes = torch.zeros_like(tables.summary)  # (2, S, N, H)
        for grad, outer_grad in zip(self.grad_tapes, (outer.hidden, outer.cell)):
            if outer_grad is not None:
                grad.copy_(outer_grad)
        self.grad_attention = None if outer.attention is None else outer.attention.contiguous()
        self.grad_keys = torch.zeros_like(tables.keys)
        self.grad_queries = torch.empty_like(tables.queries)
        self.grad_queries[:, :B] = 0  # the first step attends to nothing
        num_threads = torch.get_num_threads()
        self.grad_vector = tables.gates.new_zeros(S, num_threads, A)
        self.buffer = tables.gates.new_empty(num_threads, T)
        self.grad_ones = tables.gates.new_zeros(num_threads, H)  # always written, never used
        self.ones, self.zeros = tables.gates.new_ones(H), tables.gates.new_zeros(H)
        self.first_rows = torch.tensor([0, *accumulate(sizes)])
        self.starts = self.first_rows.tolist()
        self.numbers = torch.tensor(sizes)
        self.is_double = tables.gates.dtype == torch.float64

    def run(self) -> Gradients:
        for s in range(len(self.scales)):
            for t in range(len(self.sizes) - 1, -1, -1):
                self._through_cell(s, t)
                if t > 0:
                    self._through_attention(s, t)
        grad_vector = 2 * self.grad_vector.sum(1)
        initial = self.grad_tapes[:, :, : self.sizes[0]]
        return Gradients(self.tables.gates, self.grad_queries, self.grad_keys, grad_vector, initial)

    def _through_cell(self, s: int, t: int) -> None:
        """Write the gradients of the gates' arguments, and of h~ and c~ over those of h and c."""
        n, start, H = self.sizes[t], self.starts[t], self.tables.hidden.size(-1)
        from_keys, following = self.zeros, 0
        if t + 1 < len(self.sizes):
            following = self.sizes[t + 1]
            weight_key = self.weights.attention_hidden[s].t()
            from_keys = product(self.grad_keys[s, start : start + following], weight_key)
        _lstm_steps.read_back(
            self.is_double,
            *threads(n * 4 * H),
            n,
            n,
            following,
            H,
            Rows(self.tables.gates, s)[start],
            Rows(self.tables.cell, s)[start],
            Rows(self.tables.summary[1], s)[start],
            0,
            self.ones.data_ptr(),
            0,
            0,
            self.zeros.data_ptr(),
            Rows(self.grad_tapes[0], s)[start],
            from_keys.data_ptr(),
            0,
            Rows(self.grad_tapes[1], s)[start],
            0,
            self.grad_ones.data_ptr(),
        )
        grad_summary = self.grad_tapes[0, s, start : start + n]  # (n, H)
        gates = self.tables.gates[s, start : start + n]
        grad_summary.copy_(product(gates, self.weights.weight_hh_l0[s].t()))
        if following:
            next_queries = self.grad_queries[s, self.starts[t + 1] : self.starts[t + 2]]
            weight_query = self.weights.attention_previous[s].t()
            grad_summary[:following].add_(product(next_queries, weight_query))

    def _through_attention(self, s: int, t: int) -> None:
        """Add to the gradients of the tapes, the keys and v; write those of the queries."""
        n, start, T = self.sizes[t], self.starts[t], len(self.sizes)
        H, A = self.tables.hidden.size(-1), self.tables.queries.size(-1)
        _lstmn_attention.read_back(
            self.is_double,
            *threads(n * t * (A + 2 * H)),
            n,
            t,
            T,
            H,
            A,
            self.first_rows.data_ptr(),
            self.numbers.data_ptr(),
            Rows(self.tables.keys, s)[0],
            Rows(self.tables.queries, s)[start],
            self.scales[s].data_ptr(),
            Rows(self.tables.hidden, s)[0],
            Rows(self.tables.cell, s)[0],
            Rows(self.tables.attention, s)[0],
            0 if self.grad_attention is None else self.grad_attention[s].data_ptr(),
            Rows(self.grad_tapes[0], s)[0],
            Rows(self.grad_tapes[1], s)[0],
            Rows(self.grad_keys, s)[0],
            Rows(self.grad_queries, s)[start],
            self.grad_vector[s].data_ptr(),
            self.buffer.data_ptr(),
        )
