"""The passes of SuBiLSTM's recurrence, forward and backward, with the cell of any backend."""

from collections.abc import Iterator, Sequence
from typing import Any, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.autograd import Gradients
from allennlp_sentmatch.nn.ops.subilstm.cells import Cell, SuffixTables
from allennlp_sentmatch.nn.ops.subilstm.naive import SuffixWeights
from allennlp_sentmatch.nn.ops.subilstm.schedule import Schedule, Step, num_rows, of_chunk

SuffixArguments = tuple[Tensor, Sequence[SuffixWeights]]
"""The tokens, (S, T, B, D), and the weights of each direction."""


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
    S, T, B, _ = tokens.shape
    weight_ih, weights, bias = zip(*directions)
    projected = backend.products.affine(tokens.flatten(1, 2), weight_ih, torch.stack(bias))
    projected = projected.view(S, T, B, -1)
    suffixes = cell.of(backend, projected, weights, schedule.num_starts)
    hidden = suffixes.states[0]
    prefixes = projected.new_zeros(S, T, B, hidden.size(-1))
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
    S, T, B, _ = tokens.shape
    # The tables of the first steps come last.
    tables_in_reverse: Iterator[SuffixTables]
    if recomputes:
        tables_in_reverse = _recomputed_tables(backend, schedule, cell, weights, kept[0], kept[1:])
    else:
        tables_in_reverse = reversed(kept)
    run = _BackwardPass(backend, schedule, cell, tokens, weights, gradients)
    grad_weights: list[Optional[Tensor]] = []
    for weight, needs in zip(weights, needed[1]):
        grad_weights.append(torch.zeros_like(weight) if needs.weight_hh_l0 else None)
    for chunk, tables in zip(reversed(schedule.chunks), tables_in_reverse):
        by_product = run.of_chunk(chunk, tables)
        for grad, grad_u, hidden in zip(grad_weights, by_product, tables.states[0]):
            if grad is not None:
                grad += products.product_over_rows(hidden, grad_u).t()
    run.of_beginning(next(tables_in_reverse))
    by_rows = run.grad_projected.view(S, T * B, -1)
    grad_tokens = None
    if needed[0]:
        grad_tokens = products.input_gradient(weight_ih, by_rows).view_as(tokens)
    grad_directions: list[Gradients] = []
    for x, grad_rows, grad_weight, needs in zip(tokens, by_rows, grad_weights, needed[1]):
        grad_input_weight: Optional[Tensor] = None
        if needs.weight_ih_l0:
            grad_input_weight = products.product_over_rows(grad_rows, x.flatten(0, 1))
        grad_directions.append((grad_input_weight, grad_weight, grad_rows.sum(0)))
    return grad_tokens, grad_directions


class _BackwardPass:
    """The steps from the last to the first, and the gradients that they add to.

    `grad_projected` (S, T, B, GH) is the gradient of W x + b.
    """

    def __init__(
        self,
        backend: Backend,
        schedule: Schedule,
        cell: type[Cell],
        tokens: Tensor,
        weights: Sequence[Tensor],
        gradients: Gradients,
    ) -> None:
        S, T, B, _ = tokens.shape
        GH, H = weights[0].shape
        self._linear = backend.products.linear
        self._schedule = schedule
        self._transposed = [weight.t() for weight in weights]
        self._grad_prefixes, grad_suffixes = gradients
        self.grad_projected = tokens.new_zeros(S, T, B, GH)
        # Before a suffix's last step is undone, its gradient is the gradient of its encoding.
        grad_states = tokens.new_zeros(cell.num_states, S, schedule.num_starts, B, H)
        self._grad_hidden = grad_states[0]
        if grad_suffixes is not None:
            self._grad_hidden.copy_(grad_suffixes)
        self._suffixes = cell(backend, grad_states)
        most_rows = max(map(num_rows, schedule.chunks))
        self._buffer = tokens.new_empty(most_rows * S * GH)

    def of_chunk(self, chunk: list[Step], tables: SuffixTables) -> Tensor:
        """Run a chunk's steps; return the gradient of U h in each row, (S, rows, GH), for now."""
        S, _, _, GH = self.grad_projected.shape
        rows = num_rows(chunk)
        by_product = self._buffer[: rows * S * GH].view(S, rows, GH)
        self._suffixes.bind(tables, by_product)
        for step in reversed(chunk):
            at_token = (slice(None), step.t, slice(step.sentences))
            if self._grad_prefixes is not None:
                grad_prefix = self._grad_prefixes[at_token]
                self._grad_hidden[:, step.first, : step.sentences].add_(grad_prefix)
            for part in step.split(self._suffixes.max_rows):
                self._suffixes.retreat(part)
                out = part.of_table(by_product)
                self.grad_projected[at_token].add_(out.sum(1))
                self._suffixes.to_gradient_of_product(out, part.of_table(tables.gates))
                grad_hidden = part.of_states(self._grad_hidden)
                for grad, out_s, weight in zip(grad_hidden, out, self._transposed):
                    grad.add_(self._linear(out_s.flatten(0, 1), weight).view_as(grad))
        return by_product

    def of_beginning(self, tables: SuffixTables) -> None:
        """Run the step of all suffixes' first tokens."""
        beginning = self._schedule.beginning
        grad_gates = torch.empty_like(tables.gates)
        self._suffixes.bind(tables, grad_gates)
        self._suffixes.retreat(beginning)
        self.grad_projected[:, : beginning.suffixes] += beginning.of_table(grad_gates)


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
