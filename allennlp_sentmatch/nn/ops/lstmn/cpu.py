r"""The steps of the LSTMN compiled for CPUs: to read from the tapes is one pass over them.

The rest of a step is that of an LSTM whose state is the summary.
"""

from contextlib import suppress
from itertools import accumulate
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.native_tables import Rows, threads
from allennlp_sentmatch.nn.ops.common.products import product, reordered
from allennlp_sentmatch.nn.ops.lstmn.eager import (
    Gradients,
    Reading,
    Weights,
    from_summary_and_hidden,
)

with suppress(ImportError):  # they are not called without a compiler
    from allennlp_sentmatch.nn.ops.native import _lstm_steps, _lstmn_attention


def read_steps(
    sizes: list[int],
    weights: Weights,
    gates: Tensor,
    queries: Tensor,
    initial: Optional[Tensor],
) -> Reading:
    """As the function of the same name in `eager`."""
    S, N, A = queries.shape
    B, T, H = sizes[0], len(sizes), gates.size(-1) // 4
    weight_summary, weight_key = from_summary_and_hidden(weights)
    vectors = 2 * weights.attention_vector
    tapes = gates.new_empty(2, S, N, H)  # h and c
    summary = gates.new_empty(2, S, N, H)  # h~ and c~
    summary[:, :, :B] = 0 if initial is None else initial
    keys = torch.empty_like(queries)
    attention = gates.new_zeros(S, B, T, T)
    ones, zeros = gates.new_ones(H), gates.new_zeros(4 * H)
    first_rows = torch.tensor([0, *accumulate(sizes)])
    starts = first_rows.tolist()
    is_double = gates.dtype == torch.float64
    for s, vector in enumerate(vectors):
        fast_summary, fast_key = reordered(weight_summary[s]), reordered(weight_key[s])
        gates_at, queries_at, keys_at = (Rows(x, s) for x in (gates, queries, keys))
        hidden_at, cell_at, summary_hidden_at, summary_cell_at = (
            Rows(x, s) for x in (*tapes, *summary)
        )
        from_summary: Optional[Tensor] = None  # (n, 4H + A): for the gates and the next query
        for t, (start, n) in enumerate(zip(starts, sizes)):
            if t > 0:
                before = slice(starts[t - 1], start)
                keys[s, before] = product(tapes[0, s, before], fast_key)
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
                    attention[s].data_ptr(),
                    summary_hidden_at[start],
                    summary_cell_at[start],
                )
            has_summary = t > 0 or initial is not None
            if has_summary:
                from_summary = product(summary[0, s, start : start + n], fast_summary)
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
    return Reading(tapes[0], tapes[1], attention, summary, keys, tapes)


def read_back(
    sizes: list[int],
    weights: Weights,
    gates: Tensor,
    queries: Tensor,
    reading: Reading,
    gradients: tuple[Optional[Tensor], ...],
) -> Gradients:
    """As the function of the same name in `eager`."""
    hidden, cell, attention, summary, keys, _ = reading
    S, _, A = queries.shape
    B, T, H = sizes[0], len(sizes), gates.size(-1) // 4
    scales = 4 * weights.attention_vector
    # Of the tapes, complete when a step is reached, and then made those of its summaries.
    grads = torch.zeros_like(summary)  # (2, S, N, H)
    for grad, outer in zip(grads, gradients):
        if outer is not None:
            grad.copy_(outer)
    grad_attention = None if gradients[2] is None else gradients[2].contiguous()
    grad_keys = torch.zeros_like(keys)
    grad_queries = torch.empty_like(queries)
    grad_queries[:, :B] = 0  # the first step's, which attends to nothing
    num_threads = torch.get_num_threads()
    grad_vector = gates.new_zeros(S, num_threads, A)
    room = gates.new_empty(num_threads, T)
    grad_ones = gates.new_zeros(num_threads, H)  # of no use, but always written
    ones, zeros = gates.new_ones(H), gates.new_zeros(H)
    first_rows, numbers = torch.tensor([0, *accumulate(sizes)]), torch.tensor(sizes)
    starts = first_rows.tolist()
    is_double = gates.dtype == torch.float64
    for s, scale in enumerate(scales):
        gate_t, query_t, key_t = (
            weight[s].t()
            for weight in (
                weights.weight_hh_l0,
                weights.attention_previous,
                weights.attention_hidden,
            )
        )
        gates_at, queries_at, keys_at, grad_keys_at, grad_queries_at, attention_at = (
            Rows(x, s) for x in (gates, queries, keys, grad_keys, grad_queries, attention)
        )
        hidden_at, cell_at, summary_cell_at, grad_hidden_at, grad_cell_at = (
            Rows(x, s) for x in (hidden, cell, summary[1], *grads)
        )
        for t in range(T - 1, -1, -1):
            n, start = sizes[t], starts[t]
            from_keys, after = zeros, 0
            if t + 1 < T:
                after = sizes[t + 1]
                from_keys = product(grad_keys[s, start : start + after], key_t)  # (after, H)
            _lstm_steps.read_back(
                is_double,
                *threads(n * 4 * H),
                n,
                n,
                after,
                H,
                gates_at[start],
                cell_at[start],
                summary_cell_at[start],
                0,
                ones.data_ptr(),
                0,
                0,
                zeros.data_ptr(),
                grad_hidden_at[start],
                from_keys.data_ptr(),
                0,
                grad_cell_at[start],
                0,
                grad_ones.data_ptr(),
            )
            grad_summary = grads[0, s, start : start + n]  # (n, H)
            grad_summary.copy_(product(gates[s, start : start + n], gate_t))
            if after:
                next_queries = grad_queries[s, starts[t + 1] : starts[t + 2]]  # (after, A)
                grad_summary[:after].add_(product(next_queries, query_t))
            if t == 0:
                break
            _lstmn_attention.read_back(
                is_double,
                *threads(n * t * (A + 2 * H)),
                n,
                t,
                T,
                H,
                A,
                first_rows.data_ptr(),
                numbers.data_ptr(),
                keys_at[0],
                queries_at[start],
                scale.data_ptr(),
                hidden_at[0],
                cell_at[0],
                attention_at[0],
                0 if grad_attention is None else grad_attention[s].data_ptr(),
                grad_hidden_at[0],
                grad_cell_at[0],
                grad_keys_at[0],
                grad_queries_at[start],
                grad_vector[s].data_ptr(),
                room.data_ptr(),
            )
    return Gradients(grad_queries, grad_keys, 2 * grad_vector.sum(1), grads[:, :, :B])
