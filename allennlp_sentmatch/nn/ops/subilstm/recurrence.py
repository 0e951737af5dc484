r"""The recurrence of SuBiLSTM over the suffixes that have tokens left, and no others.

`naive` holds the equations. In the other backends all suffixes begin at once; their first tokens
need no product, because their states are zero. Then, at token t, a single product advances the
suffixes that began at the tokens `first` ... t - 1. The sentences are sorted by length, longest
first, so that these suffixes and sentences are slices of the states. A sentence of T tokens costs
T (T - 1) / 2 rows of products. States are overwritten, so those of a finished suffix are its
encoding. The directions advance side by side and share everything but their products.

Evaluation keeps nothing else. In training, the analytic backward pass goes through the same steps
in reverse and needs each step's gates and previous states. These grow with the square of T. Unless
they are small, only the states before every few steps are saved, and the backward pass computes
these steps once more, in one direction after the other. That takes a third more products, but
memory that grows with T sqrt(T), or only with T if there is a window.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Union

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend, Name, resolve
from allennlp_sentmatch.nn.ops.common.autocast import without_autocast
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward
from allennlp_sentmatch.nn.ops.common.products import affine
from allennlp_sentmatch.nn.ops.subilstm import cpu, eager, naive, steps
from allennlp_sentmatch.nn.ops.subilstm.schedule import Schedule
from allennlp_sentmatch.nn.ops.subilstm.tables import SuffixTables
from allennlp_sentmatch.nn.ops.subilstm.weights import SuffixWeights

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "eager", "cpu")

CELLS: dict[tuple[str, str], type[steps.Cell]] = {
    ("eager", "lstm"): eager.LSTMCell,
    ("eager", "gru"): eager.GRUCell,
    ("cpu", "lstm"): cpu.NativeLSTMCell,
    ("cpu", "gru"): cpu.NativeGRUCell,
}

#: Larger tables are computed again in the backward pass. These are those of 32 sentences of 75
#: tokens or 128 of 37, with 300 units; smaller ones are faster to save.
MAX_SAVED_BYTES = 1536 * 2**20


def suffix_recurrence(
    tokens: Tensor,
    directions: Sequence[SuffixWeights],
    sizes: Union[list[int], Tensor],
    window: int,
    num_starts: int,
    cell: Literal["lstm", "gru"],
) -> tuple[Tensor, Tensor]:
    """Encode prefixes and suffixes in S directions.

    # Parameters

    tokens : `Tensor`
        Shape (S, T, B, D), the longest sentence first, in the order of each direction.
    directions : `Sequence[SuffixWeights]`
        The weights of each direction.
    sizes : `Union[list[int], Tensor]`
        The number of sentences that have a token t, for each of the T tokens. The backend "scan"
        also takes a tensor (T, B), bool, true where there is a token; then the sentences may be in
        any order.
    window : `int`
        The maximum number of tokens in a prefix or suffix.
    num_starts : `int`
        Only suffixes that begin at one of this many first tokens are encoded.
    cell : `str`
        "lstm" or "gru".

    # Returns

    `tuple[Tensor, Tensor]`
        The encodings of the prefixes, (S, T, B, H), and of the suffixes, (S, num_starts, B, H).
        Those at padding are finite but meaningless.
    """
    tensors = [tokens, *(weight for weights in directions for weight in weights)]
    backend = resolve(f"SuBiLSTM with {cell} cells", IMPLEMENTATIONS, *tensors)
    if backend.name in ("naive", "scan"):
        run = naive.scanned_recurrence if backend.name == "scan" else naive.suffix_recurrence
        return run(tokens, directions, sizes, window, num_starts, cell)
    assert isinstance(sizes, list)
    with without_autocast(tokens.device):
        projected = _project(backend, tokens, directions)
        weights = [direction_weights.weight_hh_l0 for direction_weights in directions]
        schedule = Schedule.of(tokens.size(2), sizes, window, num_starts)
        return _advance_all(backend, schedule, CELLS[backend.name, cell], projected, weights)


def _project(backend: Backend, tokens: Tensor, directions: Sequence[SuffixWeights]) -> Tensor:
    """Return W x + b, (S, T, B, GH), contiguous."""
    projected = [
        affine(
            x.reshape(1, -1, x.size(-1)),
            weights.weight_ih_l0.unsqueeze(0),
            weights.bias_l0.unsqueeze(0),
            backend.products,
        )
        for x, weights in zip(tokens, directions)
    ]  # (1, T * B, GH) each
    return torch.cat(projected).view(*tokens.shape[:3], -1)


def _advance_all(
    backend: Backend,
    schedule: Schedule,
    cell: type[steps.Cell],
    projected: Tensor,
    weights: list[Tensor],
) -> tuple[Tensor, Tensor]:
    if not (torch.is_grad_enabled() and any(x.requires_grad for x in (projected, *weights))):
        prefixes, suffixes, _ = steps.forward(
            backend, schedule, cell, projected, weights, keep="nothing"
        )
        return prefixes, suffixes
    num_bytes = SuffixTables.num_bytes(
        projected, cell.num_gates, cell.num_states, schedule.num_rows
    )
    apply: Any = _Recurrence.apply
    if num_bytes <= MAX_SAVED_BYTES:
        prefixes, suffixes = apply(backend, schedule, cell, "tables", projected, *weights)
        return prefixes, suffixes
    schedule = schedule.for_recomputation()
    encodings = [
        apply(backend, schedule, cell, "states", projected_s, weight)
        for projected_s, weight in zip(projected.split(1), weights)
    ]
    prefixes, suffixes = map(torch.cat, zip(*encodings))
    return prefixes, suffixes


class _Recurrence(torch.autograd.Function):
    """The recurrence with what it keeps for its backward pass, its tables or some states."""

    @staticmethod
    def forward(
        ctx: Any,
        backend: Backend,
        schedule: Schedule,
        cell: type[steps.Cell],
        keep: Literal["states", "tables"],
        projected: Tensor,
        *weights: Tensor,
    ) -> tuple[Tensor, Tensor]:
        how = (backend, schedule, cell)
        prefixes, suffixes, kept = steps.forward(*how, projected, weights, keep)
        ctx.how, ctx.keep, ctx.shape = how, keep, projected.shape
        ctx.save_for_backward(projected if keep == "states" else None, *weights, *kept)
        return prefixes, suffixes

    @staticmethod
    @analytic_backward
    def backward(ctx: Any, grad_prefixes: Tensor, grad_suffixes: Tensor) -> tuple[Any, ...]:
        how: tuple[Backend, Schedule, type[steps.Cell]] = ctx.how
        projected, *saved = ctx.saved_tensors
        S = ctx.shape[0]
        weights, kept = saved[:S], saved[S:]
        tables: Iterable[SuffixTables]
        if ctx.keep == "states":
            tables = steps.recomputed_tables(*how, projected, weights, kept)
        else:
            beginning, *chunks = [SuffixTables(*kept[i : i + 3]) for i in range(0, len(kept), 3)]
            tables = [*reversed(chunks), beginning]
        grad_projected, grad_weights = steps.backward(
            *how,
            ctx.shape,
            weights,
            tables,
            grad_prefixes,
            grad_suffixes,
            ctx.needs_input_grad[5:],
        )
        return None, None, None, None, grad_projected, *grad_weights
