"""SuBiLSTM's LSTM compiled for CPUs: one pass over memory per step, apart from the product."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.native_tables import Rows, threads
from allennlp_sentmatch.nn.ops.common.products import product, reordered
from allennlp_sentmatch.nn.ops.suffix.cells import LSTMCell, Tables
from allennlp_sentmatch.nn.ops.suffix.schedule import Schedule, Step

with suppress(ImportError):  # they are not called without a compiler
    from allennlp_sentmatch.nn.ops.native import _suffix_steps

#: A product of this many rows is as fast as a larger one, and its result is still in the
#: processor's caches for the next pass. Larger results would be new memory from the system.
ROWS_PER_PRODUCT = 1024


def encode(
    schedule: Schedule, projected: Tensor, weights: Sequence[Tensor]
) -> tuple[Tensor, Tensor]:
    """Compute `eager.forward` of an LSTM without tables for a backward pass."""
    S, T, B, GH = projected.shape
    states = projected.new_zeros(2, S, schedule.num_starts * B, GH // 4)  # h and c
    prefixes = projected.new_zeros(S, T * B, GH // 4)
    for s, weight in enumerate(map(reordered, weights)):
        for step in schedule.steps:
            _advance(step, schedule, s, projected, weight, states, prefixes)
    hidden = states[0].view(S, schedule.num_starts, B, -1)
    return prefixes.view(S, T, B, -1), hidden


def _advance(
    step: Step,
    schedule: Schedule,
    s: int,
    projected: Tensor,
    weight: Tensor,
    states: Tensor,
    prefixes: Tensor,
) -> None:
    """Run a step in direction `s`."""
    _, T, B, GH = projected.shape
    H = GH // 4
    hidden, cell = states
    t, first, num_suffixes, N, _ = step
    is_beginning = step is schedule.beginning
    by_suffix = hidden[s].view(schedule.num_starts, B, H)
    if not num_suffixes:  # the prefix begins at this token
        prefixes[s, t * B : t * B + N] = by_suffix[first, :N]
    x_at = Rows(projected.view(-1, T * B, GH), s)
    hidden_at, cell_at, prefixes_at = (Rows(x, s) for x in (hidden, cell, prefixes))
    together = num_suffixes if is_beginning else max(1, ROWS_PER_PRODUCT // N)
    for i in range(first, first + num_suffixes, together):
        R = min(together, first + num_suffixes - i)
        from_state: Optional[Tensor] = None  # (R * N, 4H)
        if not is_beginning:
            from_state = product(by_suffix[i : i + R, :N].flatten(0, 1), weight)
        _suffix_steps.read(
            projected.dtype == torch.float64,
            *threads(R * N * GH),
            R,
            N,
            H,
            B * GH if is_beginning else 0,
            B * H,
            x_at[t * B],
            0 if from_state is None else from_state.data_ptr(),
            hidden_at[i * B],
            cell_at[i * B],
            prefixes_at[t * B] if i == first else 0,
            0,
            0,
            0,
        )


class NativeLSTMCell(LSTMCell):
    """An `LSTMCell` for tensors on the CPU, in training."""

    @staticmethod
    def forward(
        x: Tensor,
        u: Optional[Sequence[Tensor]],
        states: Sequence[Tensor],
        gates: Tensor,
        kept: Sequence[Tensor],
    ) -> None:
        """Advance the states; the parameters are those of `LSTMCell.forward`."""
        hidden, cell = states
        S, R, N, H = hidden.shape
        for s in range(S):
            _suffix_steps.read(
                hidden.dtype == torch.float64,
                *threads(R * N * 4 * H),
                R,
                N,
                H,
                x.stride(1) if x.size(1) > 1 else 0,
                hidden.stride(1),
                _address(x, s),
                0 if u is None else u[s].data_ptr(),
                _address(hidden, s),
                _address(cell, s),
                0,
                *(_address(table, s) for table in (gates, *kept)),
            )

    @staticmethod
    def backward(grads: Sequence[Tensor], tables: Tables, out: Tensor) -> None:
        """Turn gradients of h', c' into those of h, c; parameters as in `LSTMCell.backward`."""
        S, R, N, H = grads[0].shape
        for s in range(S):
            _suffix_steps.read_back(
                out.dtype == torch.float64,
                *threads(R * N * 4 * H),
                R,
                N,
                H,
                grads[0].stride(1),
                *(_address(x, s) for x in (*grads, tables.gates, *tables.kept, out)),
            )


def _address(x: Tensor, s: int) -> int:
    """Return the address of direction `s`, without the cost of an index."""
    return x.data_ptr() + s * x.stride(0) * x.element_size()
