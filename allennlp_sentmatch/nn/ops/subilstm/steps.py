"""The steps of SuBiLSTM's recurrence and their backward pass, for the cell of any backend."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Optional, Union

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.subilstm.eager import GRUCell, LSTMCell
from allennlp_sentmatch.nn.ops.subilstm.schedule import Schedule, Step, num_rows, of_chunk
from allennlp_sentmatch.nn.ops.subilstm.tables import SuffixTables

#: A cell as a backend implements it.
Cell = Union[type[LSTMCell], type[GRUCell]]


class _Suffixes:
    """The states of all suffixes, and how they advance."""

    def __init__(
        self,
        backend: Backend,
        schedule: Schedule,
        cell: Cell,
        projected: Tensor,
        weights: Sequence[Tensor],
    ) -> None:
        S, _, B, GH = projected.shape
        self._backend, self._cell, self._projected = backend, cell, projected
        self._weights = [backend.products.prepacked(weight) for weight in weights]
        self._buffer: Optional[Tensor] = None
        self.states = projected.new_zeros(
            cell.num_states, S, schedule.num_starts, B, GH // cell.num_gates
        )

    def begin(self, beginning: Step, tables: Optional[SuffixTables]) -> None:
        """Advance the states, which must be zero, by the first token of each suffix."""
        self._advance(beginning, self._projected[:, : beginning.suffixes], tables, [])

    def advance(self, step: Step, tables: Optional[SuffixTables]) -> None:
        """Advance the states of the step's suffixes; fill the step's rows of its chunk's tables."""
        for part in step.split(self._cell.max_rows):
            x = self._projected[:, step.t : step.t + 1, : step.sentences]
            self._advance(part, x, tables, self._weights)

    def _advance(
        self, step: Step, x: Tensor, tables: Optional[SuffixTables], weights: list[Tensor]
    ) -> None:
        """Advance the step's states by x, W x + b of a token; without `weights`, U h is zero."""
        current = step.of_states(self.states).unbind(0)  # (S, suffixes, sentences, H) each
        hidden = current[0]
        kept: tuple[Tensor, ...] = ()
        if tables is None:
            gates = self._new_gates(hidden.shape[:3])
        else:
            old_hidden, gates, kept = tables.at(step)
            hidden = old_hidden.copy_(hidden)
        linear = self._backend.products.linear
        # A direction's product is computed when the cell takes it, and is then still in the caches.
        u = (linear(h.flatten(0, 1), weight) for h, weight in zip(hidden, weights))
        self._cell.forward(self._backend, x, u if weights else None, current, gates, kept)

    def _new_gates(self, shape: torch.Size) -> Tensor:
        """Return a buffer for gates, (*shape, GH), until the next call."""
        GH = self._projected.size(-1)
        size = shape.numel() * GH
        if self._buffer is None or len(self._buffer) < size:
            self._buffer = self._projected.new_empty(size)
        return self._buffer[:size].view(*shape, GH)


def encode(
    backend: Backend,
    schedule: Schedule,
    cell: Cell,
    projected: Tensor,
    weights: Sequence[Tensor],
    keep_states: bool,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Run the steps without tables for a backward pass.

    # Parameters

    backend : `Backend`
    schedule : `Schedule`
    cell : `Cell`
    projected : `Tensor`
        Shape (S, T, B, GH), W x + b.
    weights : `Sequence[Tensor]`
        U, (GH, H), for each direction.
    keep_states : `bool`
        Whether to return the states that `recomputed_tables` needs.

    # Returns

    `tuple[Tensor, Tensor, list[Tensor]]`
        The encodings of prefixes (S, T, B, H) and suffixes (S, num_starts, B, H), and the states
        before each chunk that it advances.
    """
    suffixes = _Suffixes(backend, schedule, cell, projected, weights)
    suffixes.begin(schedule.beginning, None)
    prefixes = _new_prefixes(projected, suffixes)
    kept = []
    for chunk in schedule.chunks:
        if keep_states:
            kept.append(of_chunk(chunk, suffixes.states).clone())
        _advance_chunk(suffixes, chunk, None, prefixes)
    return prefixes, suffixes.states[0], kept


def forward(
    backend: Backend,
    schedule: Schedule,
    cell: Cell,
    projected: Tensor,
    weights: Sequence[Tensor],
) -> tuple[Tensor, Tensor, list[SuffixTables]]:
    """Run the steps; the parameters are those of `encode`.

    # Returns

    `tuple[Tensor, Tensor, list[SuffixTables]]`
        The encodings as those of `encode`, and the tables of the beginning and of each chunk.
    """
    suffixes = _Suffixes(backend, schedule, cell, projected, weights)
    all_tables = [_new_tables(cell, projected, schedule.beginning.num_rows)]
    suffixes.begin(schedule.beginning, all_tables[0])
    prefixes = _new_prefixes(projected, suffixes)
    for chunk in schedule.chunks:
        all_tables.append(_new_tables(cell, projected, num_rows(chunk)))
        _advance_chunk(suffixes, chunk, all_tables[-1], prefixes)
    return prefixes, suffixes.states[0], all_tables


def _new_tables(cell: Cell, projected: Tensor, num_rows: int) -> SuffixTables:
    return SuffixTables.empty(projected, cell.num_gates, cell.num_kept, num_rows)


def _new_prefixes(projected: Tensor, suffixes: _Suffixes) -> Tensor:
    return projected.new_zeros(*projected.shape[:3], suffixes.states.size(-1))


def _advance_chunk(
    suffixes: _Suffixes, chunk: list[Step], tables: Optional[SuffixTables], prefixes: Tensor
) -> None:
    for step in chunk:
        suffixes.advance(step, tables)
        prefixes[:, step.t, : step.sentences] = suffixes.states[0, :, step.first, : step.sentences]


def recomputed_tables(
    backend: Backend,
    schedule: Schedule,
    cell: Cell,
    projected: Tensor,
    weights: Sequence[Tensor],
    kept: Sequence[Tensor],
) -> Iterator[SuffixTables]:
    """Compute the tables of `forward` from the states that `encode` kept, the last tables first.

    Each overwrites the one before.
    """
    suffixes = _Suffixes(backend, schedule, cell, projected, weights)
    sizes = [schedule.beginning.num_rows, *map(num_rows, schedule.chunks)]
    all_tables = _new_tables(cell, projected, max(sizes))
    for chunk, states in zip(reversed(schedule.chunks), reversed(kept)):
        of_chunk(chunk, suffixes.states).copy_(states)
        tables = all_tables.rows(num_rows(chunk))
        for step in chunk:
            suffixes.advance(step, tables)
        yield tables
    suffixes.states.zero_()
    tables = all_tables.rows(schedule.beginning.num_rows)
    suffixes.begin(schedule.beginning, tables)
    yield tables


def backward(
    backend: Backend,
    schedule: Schedule,
    cell: Cell,
    shape: torch.Size,
    weights: Sequence[Tensor],
    tables_in_reverse: Iterable[SuffixTables],
    grad_prefixes: Tensor,
    grad_suffixes: Tensor,
    needs_weights: Sequence[bool],
) -> tuple[Tensor, list[Optional[Tensor]]]:
    """Return the gradients of `projected`, whose shape is `shape`, and of each of `weights`.

    The latter are `None` where `needs_weights` is false.

    # Parameters

    tables_in_reverse : `Iterable[SuffixTables]`
        Those of the chunks, the last first, then those of the beginning. Each is used before the
        next one is taken.
    """
    linear = backend.products.linear
    transposed = [weight.t() for weight in weights]
    grad_projected = grad_prefixes.new_zeros(shape)
    grad_weights = [
        torch.zeros_like(weight) if is_needed else None
        for weight, is_needed in zip(weights, needs_weights)
    ]
    # Before the backward pass of its last step, a suffix has the gradient of its encoding.
    grads = [grad_suffixes.clone(memory_format=torch.contiguous_format)]
    grads += [torch.zeros_like(grads[0]) for _ in range(cell.num_states - 1)]
    all_tables = iter(tables_in_reverse)
    all_grad_u = grad_projected.new_empty(shape[0], max(map(num_rows, schedule.chunks)), shape[-1])
    for chunk, tables in zip(reversed(schedule.chunks), all_tables):
        grad_u = all_grad_u[:, : num_rows(chunk)]
        for step in reversed(chunk):
            rows = (slice(None), step.t, slice(step.sentences))
            grads[0][:, step.first, : step.sentences] += grad_prefixes[rows]
            for part in step.split(cell.max_rows):
                tables_at = tables.at(part)
                current = [part.of_states(grad) for grad in grads]
                out = part.of_table(grad_u)
                cell.backward(current, tables_at, out)
                grad_projected[rows] += out.sum(1)
                cell.to_gradient_of_product(out, tables_at.gates)
                for grad_hidden, out_s, weight in zip(current[0], out, transposed):
                    grad_hidden += linear(out_s.flatten(0, 1), weight).view_as(grad_hidden)
        for grad, grad_u_s, hidden in zip(grad_weights, grad_u, tables.hidden):
            if grad is not None:
                grad += backend.products.product_over_rows(hidden, grad_u_s).t()
    beginning = next(all_tables).at(schedule.beginning)
    grad_beginnings = torch.empty_like(beginning.gates)
    cell.backward(grads, beginning, grad_beginnings)
    grad_projected[:, : schedule.num_starts] += grad_beginnings
    return grad_projected, grad_weights
