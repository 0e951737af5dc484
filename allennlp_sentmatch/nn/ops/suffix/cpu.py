"""SuBiLSTM's LSTM compiled for CPUs: one pass over memory per step, apart from the product."""

from collections.abc import Sequence
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import COMPILED, Backend
from allennlp_sentmatch.nn.ops.common.native_tables import address, threads
from allennlp_sentmatch.nn.ops.suffix.eager import Cell, LSTMCell
from allennlp_sentmatch.nn.ops.suffix.schedule import Schedule, of_chunk
from allennlp_sentmatch.nn.ops.suffix.tables import SuffixTables

if COMPILED:
    from allennlp_sentmatch.nn.ops.native import _suffix_steps


def encode(
    backend: Backend,
    schedule: Schedule,
    cell: Cell,
    projected: Tensor,
    weights: Sequence[Tensor],
    keep_states: bool,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Compute `steps.encode` of an LSTM."""
    S, T, B, GH = projected.shape
    H = GH // 4
    states = projected.new_zeros(2, S, schedule.num_starts, B, H)  # h and c
    prefixes = projected.new_zeros(S, T, B, H)
    bound = _BoundEncoding(projected, states, prefixes)
    linear = backend.products.linear
    fast_weights = [backend.products.prepacked(weight) for weight in weights]
    kept = []
    for s in range(S):
        bound.run(s, 0, 0, schedule.num_starts, B, None)
    for chunk in schedule.chunks:
        if keep_states:
            kept.append(of_chunk(chunk, states).clone())
        for s, weight in enumerate(fast_weights):
            for step in chunk:
                t, first, num_suffixes, N, _ = step
                if not num_suffixes:  # the prefix begins at this token
                    prefixes[s, t, :N] = states[0, s, first, :N]
                for _, i, R, _, _ in step.split(cell.max_rows):
                    u = linear(states[0, s, i : i + R, :N].flatten(0, 1), weight)  # (R * N, 4H)
                    bound.run(s, t, i, R, N, u, is_first=i == first)
    return prefixes, states[0], kept


class _BoundEncoding:
    """The steps without tables for a backward pass, over bound tables.

    # Parameters

    projected : `Tensor`
        Shape (S, T, B, 4H).
    states : `Tensor`
        Shape (2, S, num_starts, B, H): h and c.
    prefixes : `Tensor`
        Shape (S, T, B, H).

    # Raises

    `ValueError`
        If a table has the wrong shape, precision or device, or is not contiguous.
    """

    def __init__(self, projected: Tensor, states: Tensor, prefixes: Tensor) -> None:
        S, T, B, GH = projected.shape
        H = GH // 4
        self._tables = (projected, states, prefixes)  # the C++ has no references to them
        self._shape = S, T, states.size(2), B, H
        self._itemsize = projected.element_size()
        self._is_double = projected.dtype == torch.float64
        self._projected = address(projected, (S, T, B, 4 * H), projected)
        self._hidden, self._cell = (
            address(x, (S, states.size(2), B, H), projected) for x in states
        )
        self._prefixes = address(prefixes, (S, T, B, H), projected)

    def run(
        self, s: int, t: int, i: int, R: int, N: int, u: Optional[Tensor], is_first: bool = True
    ) -> None:
        """Advance the suffixes from `i` on, `R` of `N` sentences, in direction `s`.

        With U h as `u`, (R * N, 4H), they advance by token `t`; without, each by its first token.
        The state of the first suffix of a step is that of a prefix.
        """
        S, T, num_starts, B, H = self._shape
        last = t if u is not None else i + R - 1
        if not (0 <= s < S and 0 <= i <= i + R <= num_starts and 0 <= N <= B and 0 <= last < T):
            raise IndexError("the step is not within its tables")
        state = ((s * num_starts + i) * B) * H * self._itemsize
        token = ((s * T + t) * B) * H * self._itemsize
        _suffix_steps.forward(
            self._is_double,
            *threads(R * N * 4 * H),
            R,
            N,
            H,
            B * 4 * H if u is None else 0,
            B * H,
            self._projected + 4 * token,
            address(u, (R * N, 4 * H), self._tables[0]),
            self._hidden + state,
            self._cell + state,
            self._prefixes + token if is_first else 0,
            0,
            0,
            0,
        )


class NativeLSTMCell(LSTMCell):
    """`LSTMCell` with a single pass over memory, for tensors on the CPU."""

    # A product of this many rows is as fast as a larger one, and its result is still in the
    # processor's caches for the next pass. Larger results would be new memory from the system.
    max_rows = 1024

    @staticmethod
    def forward(
        backend: Backend,
        x: Tensor,
        u: Optional[Sequence[Tensor]],
        states: Sequence[Tensor],
        gates: Tensor,
        kept: Sequence[Tensor],
    ) -> None:
        """Advance the states; the parameters are those of `LSTMCell.forward`."""
        hidden, cell = states
        S, R, N, H = hidden.shape
        xs = _addresses(x, (S, x.size(1), N, 4 * H), hidden)
        both = [_addresses(state, (S, R, N, H), hidden) for state in states]
        tables = [_addresses(gates, (S, R, N, 4 * H), hidden, is_table=True)]
        tables += [_addresses(table, (S, R, N, H), hidden, is_table=True) for table in kept]
        if x.size(1) not in (1, R) or cell.stride() != hidden.stride() or len(kept) != 2:
            raise ValueError("the tables of a step do not fit together")
        for s in range(S):
            _suffix_steps.forward(
                hidden.dtype == torch.float64,
                *threads(R * N * 4 * H),
                R,
                N,
                H,
                x.stride(1) if x.size(1) > 1 else 0,
                hidden.stride(1),
                xs[s],
                0 if u is None else address(u[s], (R * N, 4 * H), hidden),
                *(addresses[s] for addresses in both),
                0,
                *(addresses[s] for addresses in tables),
            )

    @staticmethod
    def backward(grads: Sequence[Tensor], tables: SuffixTables, out: Tensor) -> None:
        """Turn gradients of h', c' into those of h, c; parameters as in `LSTMCell.backward`."""
        S, R, N, H = grads[0].shape
        both = [_addresses(grad, (S, R, N, H), out) for grad in grads]
        saved = [_addresses(x, (S, R, N, H), out, is_table=True) for x in tables.kept]
        gates, outs = (
            _addresses(x, (S, R, N, 4 * H), out, is_table=True) for x in (tables.gates, out)
        )
        if grads[0].stride() != grads[1].stride():
            raise ValueError("the tables of a step do not fit together")
        for s in range(S):
            _suffix_steps.backward(
                out.dtype == torch.float64,
                *threads(R * N * 4 * H),
                R,
                N,
                H,
                grads[0].stride(1),
                *(addresses[s] for addresses in (*both, gates, *saved, outs)),
            )


def _addresses(
    x: Tensor, shape: tuple[int, ...], like: Tensor, is_table: bool = False
) -> list[int]:
    """Return the address of the rows (R, N, width) of each direction.

    The C++ trusts that the N rows are contiguous, and in a table also the R blocks of them.

    # Raises

    `ValueError`
        If that is not so, or `x` differs from `shape` or in precision or device from `like`.
    """
    S, R, N, width = shape
    by_direction, by_suffix, by_sentence, by_number = x.stride()
    if x.shape != shape or x.dtype != like.dtype or x.device.type != "cpu":
        raise ValueError(
            f"expected {shape} of {like.dtype} on the CPU, "
            f"got {tuple(x.shape)} of {x.dtype} on {x.device}"
        )
    if (
        (by_number != 1 and width > 1)
        or (by_sentence != width and N > 1)
        or (is_table and by_suffix != N * width and R > 1)
    ):
        raise ValueError(f"expected contiguous rows, got strides {x.stride()} of {shape}")
    first, step = x.data_ptr(), by_direction * x.element_size()
    return [first + s * step for s in range(S)]
