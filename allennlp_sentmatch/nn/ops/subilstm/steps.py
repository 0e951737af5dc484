"""The steps of SuBiLSTM's recurrence and their backward pass, for the cell of any backend."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.subilstm.schedule import Schedule, Step, num_rows, of_chunk
from allennlp_sentmatch.nn.ops.subilstm.tables import SuffixTables


class Cell:
    """A cell that advances suffixes, as a backend implements it, or that goes back.

    # Parameters

    backend : `Backend`
    states : `Tensor`
        Shape (num_states, S, num_starts, B, H): the states of all suffixes, h first, which steps
        overwrite. To go back, the gradients of these.
    projected : `Optional[Tensor]`
        Shape (S, T, B, GH), W x + b; `None` to go back.
    weights : `Sequence[Tensor]`
        U, (GH, H), for each direction; empty to go back.
    """

    num_gates: int
    num_states: int
    #: The number of rows that advance together; all rows of a step if `None`.
    max_rows: Optional[int] = None

    def __init__(
        self,
        backend: Backend,
        states: Tensor,
        projected: Optional[Tensor] = None,
        weights: Sequence[Tensor] = (),
    ) -> None:
        self._backend, self.states = backend, states
        # `None` where a pass does not need them
        self._projected: Any = projected
        self._tables: Any = None
        self._grad_gates: Any = None
        self._prepare(weights)

    def _prepare(self, weights: Sequence[Tensor]) -> None:
        """Make what all steps need."""
        raise NotImplementedError

    @classmethod
    def of(
        cls, backend: Backend, projected: Tensor, weights: Sequence[Tensor], num_starts: int
    ) -> "Cell":
        """Return a cell whose states are zero; the parameters are those of the class."""
        S, _, B, GH = projected.shape
        states = projected.new_zeros(cls.num_states, S, num_starts, B, GH // cls.num_gates)
        return cls(backend, states, projected, weights)

    def bind(self, tables: SuffixTables, grad_gates: Optional[Tensor] = None) -> None:
        """Take the tables of the next steps' chunk, and to go back also `grad_gates`.

        These, (S, rows, GH), are a buffer for the gradient of W x + b in each row.
        """
        self._tables, self._grad_gates = tables, grad_gates

    def advance(self, step: Step) -> None:
        """Advance the states; fill the step's rows of the tables, if there are any."""
        raise NotImplementedError

    def retreat(self, step: Step) -> None:
        """Turn the gradients of the new states into those of the old, but for the part through U h.

        Fill the step's rows of `grad_gates`.
        """
        raise NotImplementedError

    @staticmethod
    def to_gradient_of_product(grad_gates: Tensor, gates: Tensor) -> None:
        """Turn the gradient of W x + b into that of U h, in place; an LSTM's are equal."""


def forward(
    backend: Backend,
    schedule: Schedule,
    cell: type[Cell],
    projected: Tensor,
    weights: Sequence[Tensor],
    keep: Literal["nothing", "states", "tables"],
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Run the steps.

    # Parameters

    backend : `Backend`
    schedule : `Schedule`
    cell : `type[Cell]`
    projected : `Tensor`
        Shape (S, T, B, GH), W x + b.
    weights : `Sequence[Tensor]`
        U, (GH, H), for each direction.
    keep : `str`
        "tables" for a backward pass, or "states" for `recomputed_tables`.

    # Returns

    `tuple[Tensor, Tensor, list[Tensor]]`
        The encodings of prefixes (S, T, B, H) and suffixes (S, num_starts, B, H); and the tables of
        the beginning and of each chunk, one after the other, or the states before each chunk that
        it advances.
    """
    suffixes = cell.of(backend, projected, weights, schedule.num_starts)
    hidden = suffixes.states[0]
    prefixes = projected.new_zeros(*projected.shape[:3], hidden.size(-1))
    prefix_at, hidden_at = prefixes.unbind(1), hidden.unbind(1)
    kept: list[Tensor] = []

    def bind_new_tables(num_rows: int) -> None:
        if keep == "tables":
            tables = SuffixTables.empty(projected, cell.num_gates, cell.num_states, num_rows)
            suffixes.bind(tables)
            kept.extend(tables)

    bind_new_tables(schedule.beginning.num_rows)
    suffixes.advance(schedule.beginning)
    for chunk in schedule.chunks:
        if keep == "states":
            kept.append(of_chunk(chunk, suffixes.states).clone())
        bind_new_tables(num_rows(chunk))
        for step in chunk:
            suffixes.advance(step)
            n = step.sentences
            prefix_at[step.t][:, :n].copy_(hidden_at[step.first][:, :n])
    return prefixes, hidden, kept


def recomputed_tables(
    backend: Backend,
    schedule: Schedule,
    cell: type[Cell],
    projected: Tensor,
    weights: Sequence[Tensor],
    kept: Sequence[Tensor],
) -> Iterator[SuffixTables]:
    """Compute the tables of `forward` from the states that it kept, the last tables first.

    Each overwrites the one before.
    """
    suffixes = cell.of(backend, projected, weights, schedule.num_starts)
    sizes = [schedule.beginning.num_rows, *map(num_rows, schedule.chunks)]
    all_tables = SuffixTables.empty(projected, cell.num_gates, cell.num_states, max(sizes))
    for chunk, states in zip(reversed(schedule.chunks), reversed(kept)):
        of_chunk(chunk, suffixes.states).copy_(states)
        tables = all_tables.rows(num_rows(chunk))
        suffixes.bind(tables)
        for step in chunk:
            suffixes.advance(step)
        yield tables
    suffixes.states.zero_()
    tables = all_tables.rows(schedule.beginning.num_rows)
    suffixes.bind(tables)
    suffixes.advance(schedule.beginning)
    yield tables


def backward(
    backend: Backend,
    schedule: Schedule,
    cell: type[Cell],
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
    grads = grad_suffixes.new_zeros(cell.num_states, *grad_suffixes.shape)
    # Before the backward pass of its last step, a suffix has the gradient of its encoding.
    grad_hidden = grads[0].copy_(grad_suffixes)
    suffixes = cell(backend, grads)
    all_tables = iter(tables_in_reverse)
    S, _, _, GH = shape
    all_grad_u = grad_projected.new_empty(max(map(num_rows, schedule.chunks)) * S * GH)
    for chunk, tables in zip(reversed(schedule.chunks), all_tables):
        grad_u = all_grad_u[: num_rows(chunk) * S * GH].view(S, -1, GH)
        suffixes.bind(tables, grad_u)
        for step in reversed(chunk):
            rows = (slice(None), step.t, slice(step.sentences))
            grad_hidden[:, step.first, : step.sentences].add_(grad_prefixes[rows])
            for part in step.split(cell.max_rows):
                suffixes.retreat(part)
                out = part.of_table(grad_u)
                grad_projected[rows].add_(out.sum(1))
                cell.to_gradient_of_product(out, part.of_table(tables.gates))
                for grad_h, out_s, weight in zip(part.of_states(grad_hidden), out, transposed):
                    grad_h.add_(linear(out_s.flatten(0, 1), weight).view_as(grad_h))
        for grad, grad_u_s, hidden in zip(grad_weights, grad_u, tables.states[0]):
            if grad is not None:
                grad += backend.products.product_over_rows(hidden, grad_u_s).t()
    beginning = next(all_tables)
    grad_beginnings = torch.empty_like(beginning.gates)
    suffixes.bind(beginning, grad_beginnings)
    suffixes.retreat(schedule.beginning)
    grad_projected[:, : schedule.num_starts] += schedule.beginning.of_table(grad_beginnings)
    return grad_projected, grad_weights
