r"""The recurrence of SuBiLSTM compiled for CPUs: all of a step but its product is one pass."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Optional

import torch

from allennlp_sentmatch.nn.ops.common.native_tables import Rows, threads
from allennlp_sentmatch.nn.ops.common.products import product, reordered
from allennlp_sentmatch.nn.ops.suffix.cells import LSTMCell
from allennlp_sentmatch.nn.ops.suffix.schedule import Step

with suppress(ImportError):  # they are not called without a compiler
    from allennlp_sentmatch.nn.ops.native import _suffix_steps

Tensors = Sequence[torch.Tensor]

#: A product of this many rows is as fast as a larger one and still in the processor's caches when
#: the next pass reads it. Of ever more rows, each would ask the system for new memory.
ROWS_PER_PRODUCT = 1024


def read(
    chunks: list[list[Step]],
    num_starts: int,
    projected: torch.Tensor,
    weights: Sequence[torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor]:
    """The encodings of the prefixes and suffixes, without what a backward pass would need.

    The arguments are those of `suffix_recurrence`, `projected` contiguous, and `chunks` the steps.
    """
    S, T, B, GH = projected.shape
    H = GH // 4
    is_double = projected.dtype == torch.float64
    hidden, cell = projected.new_zeros(2, S, num_starts * B, H)
    prefixes = projected.new_zeros(S, T * B, H)
    beginning = Step(0, 0, num_starts, B, 0)
    steps = [beginning, *(step for chunk in chunks for step in chunk)]
    for s, weight in enumerate(map(reordered, weights)):
        x_at = Rows(projected.view(S, T * B, GH), s)
        hidden_at, cell_at, prefixes_at = (Rows(x, s) for x in (hidden, cell, prefixes))
        states = hidden[s].view(num_starts, B, H)
        for step in steps:
            t, first, R, N, _ = step
            if not R:  # the token is where its prefix begins
                prefixes[s, t * B : t * B + N] = states[first, :N]
            together = R if step is beginning else max(1, ROWS_PER_PRODUCT // N)
            for i in range(first, first + R, together):
                num_suffixes = min(together, first + R - i)
                from_state: Optional[torch.Tensor] = None  # (num_suffixes * N, 4H)
                if step is not beginning:
                    if N == B:
                        rows = hidden[s, i * B : (i + num_suffixes) * B]
                    else:
                        rows = states[i : i + num_suffixes, :N].flatten(0, 1)
                    from_state = product(rows, weight)
                _suffix_steps.read(
                    is_double,
                    *threads(num_suffixes * N * GH),
                    num_suffixes,
                    N,
                    H,
                    B * GH if step is beginning else 0,
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
    return prefixes.view(S, T, B, H), hidden.view(S, num_starts, B, H)


class CompiledLSTMCell(LSTMCell):
    """An `LSTMCell` for tensors on the CPU, in training."""

    @staticmethod
    def forward(
        x: torch.Tensor,
        u: Optional[Tensors],
        states: Tensors,
        gates: torch.Tensor,
        kept: Tensors,
    ) -> None:
        """As `LSTMCell.forward`."""
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
                *(_address(room, s) for room in (gates, *kept)),
            )

    @staticmethod
    def backward(
        grads: Tensors,
        old_hidden: torch.Tensor,
        gates: torch.Tensor,
        kept: Tensors,
        out: torch.Tensor,
    ) -> None:
        """As `LSTMCell.backward`."""
        S, R, N, H = grads[0].shape
        for s in range(S):
            _suffix_steps.read_back(
                out.dtype == torch.float64,
                *threads(R * N * 4 * H),
                R,
                N,
                H,
                grads[0].stride(1),
                *(_address(x, s) for x in (*grads, gates, *kept, out)),
            )


def _address(x: torch.Tensor, s: int) -> int:
    """Where the part for direction `s` begins; faster than to index."""
    return x.data_ptr() + s * x.stride(0) * x.element_size()
