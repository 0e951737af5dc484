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
    rows = tokens.flatten(1, 2)  # (S, T * B, D)
    projected = backend.products.affine(rows, weight_ih, torch.stack(bias))
    projected = projected.view(S, T, B, -1)
    suffixes = cell.of(backend, projected, weights, schedule.num_starts)
    hidden = suffixes.states[0]  # (S, num_starts, B, H)
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
            states = of_chunk(chunk, suffixes.states)
            kept.append(states.clone())
        for step in chunk:
            suffixes.advance(step)
            n = step.sentences
            longest_suffix = hidden_at[step.first][:, :n]  # (S, n, H)
            prefix_at[step.t][:, :n].copy_(longest_suffix)
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
    """Run the backward pass of `forward`.

    Return the gradients of the tokens and of each direction's weights, as far as they are `needed`.
    """
    tokens, directions = arguments
    needed_tokens, needed_directions = needed
    weight_ih, weights, _ = zip(*directions)
    products = backend.products
    # The tables of the first steps come last.
    tables_in_reverse: Iterator[SuffixTables] = reversed(kept)
    if recomputes:
        projected, *states = kept
        tables_in_reverse = _recomputed_tables(
            backend,
            schedule,
            cell,
            weights,
            projected,
            states,
        )
    run = _BackwardPass(backend, schedule, cell, tokens, weights, gradients)
    grad_weights: list[Optional[Tensor]] = []
    for weight, needs in zip(weights, needed_directions):
        grad_weights.append(torch.zeros_like(weight) if needs.weight_hh_l0 else None)
    for chunk, tables in zip(reversed(schedule.chunks), tables_in_reverse):
        by_product = run.of_chunk(chunk, tables)
        for grad, grad_u, hidden in zip(grad_weights, by_product, tables.states[0]):
            if grad is not None:
                grad += products.product_over_rows(hidden, grad_u).t()
    run.of_beginning(next(tables_in_reverse))
    grad_projected = run.grad_projected.flatten(1, 2)  # (S, T * B, GH)
    grad_tokens = None
    if needed_tokens:
        grad_rows = products.input_gradient(weight_ih, grad_projected)
        grad_tokens = grad_rows.view_as(tokens)
    grad_directions: list[Gradients] = []
    for s, needs in enumerate(needed_directions):
        grad_input_weight = None
        if needs.weight_ih_l0:
            rows = tokens[s].flatten(0, 1)  # (T * B, D)
            grad_input_weight = products.product_over_rows(grad_projected[s], rows)
        grad_bias = grad_projected[s].sum(0)
        grad_directions.append((grad_input_weight, grad_weights[s], grad_bias))
    return grad_tokens, grad_directions


class _BackwardPass:
    """The steps from the last to the first, and the gradients that they add to.

    The arguments are as for `backward`, with the U (GH, H) of each direction as `weights`. The
    attribute `grad_projected` (S, T, B, GH) is the gradient of W x + b.
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
        """Run a chunk's steps; return the gradient of U h in each row, (S, rows, GH).

        The next call overwrites it.
        """
        S, _, _, GH = self.grad_projected.shape
        rows = num_rows(chunk)
        by_product = self._buffer[: rows * S * GH].view(S, rows, GH)
        self._suffixes.bind(tables, by_product)
        for step in reversed(chunk):
            n = step.sentences
            grad_x = self.grad_projected[:, step.t, :n]  # (S, n, GH)
            if self._grad_prefixes is not None:
                grad_prefix = self._grad_prefixes[:, step.t, :n]  # (S, n, H)
                self._grad_hidden[:, step.first, :n].add_(grad_prefix)
            for part in step.split(self._suffixes.max_rows):
                self._suffixes.retreat(part)
                out = part.of_table(by_product)  # (S, suffixes, n, GH)
                grad_x.add_(out.sum(1))
                gates = part.of_table(tables.gates)
                self._suffixes.to_gradient_of_product(out, gates)
                grad_hidden = part.of_states(self._grad_hidden)  # (S, suffixes, n, H)
                for grad, out_s, weight in zip(grad_hidden, out, self._transposed):
                    by_row = self._linear(out_s.flatten(0, 1), weight)
                    grad.add_(by_row.view_as(grad))
        return by_product

    def of_beginning(self, tables: SuffixTables) -> None:
        """Run the step of all suffixes' first tokens."""
        beginning = self._schedule.beginning
        grad_gates = torch.empty_like(tables.gates)
        self._suffixes.bind(tables, grad_gates)
        self._suffixes.retreat(beginning)
        grad_first_tokens = self.grad_projected[:, : beginning.suffixes]
        grad_first_tokens += beginning.of_table(grad_gates)


def _recomputed_tables(
    backend: Backend,
    schedule: Schedule,
    cell: type[Cell],
    weights: Sequence[Tensor],
    projected: Tensor,
    kept: Sequence[Tensor],
) -> Iterator[SuffixTables]:
    """Compute the tables of each chunk again, the last one first, and then of the beginning.

    `projected` is W x + b, and `kept` are the states that each chunk advances, before the chunk.
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
