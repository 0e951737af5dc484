"""The steps of SuBiLSTM's recurrence and their backward pass, for the cell of any backend."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.autograd import Gradients
from allennlp_sentmatch.nn.ops.subilstm.naive import SuffixWeights
from allennlp_sentmatch.nn.ops.subilstm.schedule import Schedule, Step, num_rows, of_chunk

SuffixArguments = tuple[Tensor, Sequence[SuffixWeights]]
"""The tokens, (S, T, B, D), and the weights of each direction."""


class SuffixTables(NamedTuple):
    """The values that a backward pass needs, of all steps of a chunk or of one step."""

    states: Tensor  # (number of states, S, rows, H): before the step
    gates: Tensor  # (S, rows, GH)
    kept: Tensor  # (S, rows, H): another value of the cell

    def rows(self, num_rows: int) -> "SuffixTables":
        """Slice the tables to their first rows."""
        return SuffixTables(*(table[..., :num_rows, :] for table in self))

    def at(self, step: Step) -> "SuffixTables":
        """Slice the tables of a chunk to a step's, (..., suffixes, sentences, width)."""
        return SuffixTables(*map(step.of_table, self))


class Cell:
    """A backend's cell, which advances suffixes or goes back.

    `states` (num_states, S, num_starts, B, H) are the states of all suffixes, h first, which steps
    overwrite. `projected` (S, T, B, GH) is W x + b, and `weights` are the U (GH, H) of the
    directions. When going back, `states` are the gradients, and the other arguments are left out.
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
        self._backend = backend
        self.states = states
        # `None` if a pass does not need them
        self._projected: Any = projected
        self._tables: Any = None
        self._grad_gates: Any = None
        self._prepare(weights)

    def _prepare(self, weights: Sequence[Tensor]) -> None:
        """Make the values that all steps need."""
        raise NotImplementedError

    @classmethod
    def of(
        cls, backend: Backend, projected: Tensor, weights: Sequence[Tensor], num_starts: int
    ) -> "Cell":
        """Return a cell whose states are zero, with the class's parameters."""
        S, _, B, GH = projected.shape
        states = projected.new_zeros(cls.num_states, S, num_starts, B, GH // cls.num_gates)
        return cls(backend, states, projected, weights)

    def new_tables(self, num_rows: int) -> SuffixTables:
        """Return tables of this many rows, and take them as by `bind`."""
        _, S, _, _, H = self.states.shape
        new = self.states.new_empty
        tables = SuffixTables(
            new(self.num_states, S, num_rows, H),
            new(S, num_rows, self.num_gates * H),
            new(S, num_rows, H),
        )
        self.bind(tables)
        return tables

    def bind(self, tables: SuffixTables, grad_gates: Optional[Tensor] = None) -> None:
        """Take the tables of the next steps' chunk.

        To go back, also take a buffer (S, rows, GH) for the gradient of W x + b in each row.
        """
        self._tables = tables
        self._grad_gates = grad_gates

    def advance(self, step: Step) -> None:
        """Advance the states; fill the step's rows of the tables, if there are any."""
        raise NotImplementedError

    def retreat(self, step: Step) -> None:
        """Turn the gradients of the new states into the old states', without the part through U h.

        Fill the step's rows of `grad_gates`.
        """
        raise NotImplementedError

    @staticmethod
    def to_gradient_of_product(grad_gates: Tensor, gates: Tensor) -> None:
        """Turn the gradient of W x + b into the gradient of U h, in place; an LSTM's are equal."""


def forward(
    backend: Backend,
    schedule: Schedule,
    cell: type[Cell],
    recomputes: bool,
    arguments: SuffixArguments,
    keep: bool,
) -> tuple[tuple[Tensor, Tensor], Any]:
    """Run the steps.

    Return the encodings of prefixes (S, T, B, H) and suffixes (S, num_starts, B, H), and the values
    to keep: the tables of the beginning and of each chunk or, if `recomputes`, W x + b and the
    states that each chunk advances, before the chunk.
    """
    tokens, directions = arguments
    weight_ih, weights, bias = zip(*directions)
    projected = backend.products.affine(tokens.flatten(1, 2), weight_ih, torch.stack(bias))
    projected = projected.view(*tokens.shape[:3], -1)
    suffixes = cell.of(backend, projected, weights, schedule.num_starts)
    hidden = suffixes.states[0]
    prefixes = projected.new_zeros(*projected.shape[:3], hidden.size(-1))
    prefix_at = prefixes.unbind(1)
    hidden_at = hidden.unbind(1)
    keeps_tables = keep and not recomputes
    kept: list[Any] = [] if keeps_tables else [projected]
    if keeps_tables:
        kept.append(suffixes.new_tables(schedule.beginning.num_rows))
    suffixes.advance(schedule.beginning)
    for chunk in schedule.chunks:
        if keeps_tables:
            kept.append(suffixes.new_tables(num_rows(chunk)))
        elif keep:
            kept.append(of_chunk(chunk, suffixes.states).clone())
        for step in chunk:
            suffixes.advance(step)
            n = step.sentences
            prefix_at[step.t][:, :n].copy_(hidden_at[step.first][:, :n])
    return (prefixes, hidden), kept


def _recomputed_tables(
    backend: Backend,
    schedule: Schedule,
    cell: type[Cell],
    weights: Sequence[Tensor],
    projected: Tensor,
    kept: Sequence[Tensor],
) -> Iterator[SuffixTables]:
    """Compute the tables from the states that `forward` kept, the last ones first.

    Each table overwrites the one before.
    """
    suffixes = cell.of(backend, projected, weights, schedule.num_starts)
    sizes = [schedule.beginning.num_rows, *map(num_rows, schedule.chunks)]
    all_tables = suffixes.new_tables(max(sizes))
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
    recomputes: bool,
    arguments: SuffixArguments,
    kept: list[Any],
    gradients: Gradients,
    needed: SuffixArguments,
) -> tuple[Optional[Tensor], list[Gradients]]:
    """Run the backward pass of `forward`."""
    tokens, directions = arguments
    weight_ih, weights, _ = zip(*directions)
    products = backend.products
    S, T, B = tokens.shape[:3]
    GH, H = weights[0].shape
    # The tables of the beginning are the last.
    tables_in_reverse: Iterator[SuffixTables]
    if recomputes:
        tables_in_reverse = _recomputed_tables(backend, schedule, cell, weights, kept[0], kept[1:])
    else:
        tables_in_reverse = reversed(kept)
    transposed = [weight.t() for weight in weights]
    grad_projected = tokens.new_zeros(S, T, B, GH)
    grad_weights = [
        torch.zeros_like(weight) if needs.weight_hh_l0 else None
        for weight, needs in zip(weights, needed[1])
    ]
    grad_prefixes, grad_suffixes = gradients
    # Before a suffix's last step is undone, its gradient is the gradient of its encoding.
    grads = tokens.new_zeros(cell.num_states, S, schedule.num_starts, B, H)
    grad_hidden = grads[0]
    if grad_suffixes is not None:
        grad_hidden.copy_(grad_suffixes)
    suffixes = cell(backend, grads)
    all_grad_u = tokens.new_empty(max(map(num_rows, schedule.chunks)) * S * GH)
    for chunk, tables in zip(reversed(schedule.chunks), tables_in_reverse):
        grad_u = all_grad_u[: num_rows(chunk) * S * GH].view(S, -1, GH)
        suffixes.bind(tables, grad_u)
        for step in reversed(chunk):
            rows = (slice(None), step.t, slice(step.sentences))
            if grad_prefixes is not None:
                grad_hidden[:, step.first, : step.sentences].add_(grad_prefixes[rows])
            for part in step.split(cell.max_rows):
                suffixes.retreat(part)
                out = part.of_table(grad_u)
                grad_projected[rows].add_(out.sum(1))
                cell.to_gradient_of_product(out, part.of_table(tables.gates))
                for grad_h, out_s, weight in zip(part.of_states(grad_hidden), out, transposed):
                    grad_h.add_(products.linear(out_s.flatten(0, 1), weight).view_as(grad_h))
        for grad, grad_u_s, hidden in zip(grad_weights, grad_u, tables.states[0]):
            if grad is not None:
                grad += products.product_over_rows(hidden, grad_u_s).t()
    beginning = next(tables_in_reverse)
    grad_beginnings = torch.empty_like(beginning.gates)
    suffixes.bind(beginning, grad_beginnings)
    suffixes.retreat(schedule.beginning)
    grad_projected[:, : schedule.num_starts] += schedule.beginning.of_table(grad_beginnings)
    by_rows = grad_projected.view(S, T * B, GH)
    grad_tokens = None
    if needed[0]:
        grad_tokens = products.input_gradient(weight_ih, by_rows).view_as(tokens)
    return grad_tokens, [
        (
            products.product_over_rows(grad, x.flatten(0, 1)) if needs.weight_ih_l0 else None,
            grad_weight,
            grad.sum(0),
        )
        for x, grad, grad_weight, needs in zip(tokens, by_rows, grad_weights, needed[1])
    ]
