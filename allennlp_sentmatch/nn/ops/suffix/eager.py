"""The steps of SuBiLSTM's recurrence with their backward pass, for any cell."""

from collections.abc import Sequence
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.suffix.cells import Cell, Tables
from allennlp_sentmatch.nn.ops.suffix.schedule import Schedule, Step


def forward(
    backend: Backend,
    schedule: Schedule,
    cell: Cell,
    projected: Tensor,
    weights: Sequence[Tensor],
    keep: bool,
) -> tuple[Tensor, Tensor, list[Tables]]:
    """Run the steps.

    # Parameters

    backend : `Backend`
    schedule : `Schedule`
    cell : `Cell`
    projected : `Tensor`
        Shape (S, T, B, GH), W x + b.
    weights : `Sequence[Tensor]`
        U, (GH, H), for each direction.
    keep : `bool`
        Whether to return the tables that `backward` needs.

    # Returns

    `Tuple[Tensor, Tensor, List[Tables]]`
        The encodings of prefixes (S, T, B, H) and suffixes (S, num_starts, B, H), and the tables of
        the beginning and of each chunk.
    """
    S, T, B, GH = projected.shape
    H, product = weights[0].size(1), backend.products.product
    states = [projected.new_zeros(S, schedule.num_starts, B, H) for _ in range(cell.num_states)]
    buffer = None
    if not keep:
        buffer = projected.new_empty(S * max(step.num_rows for step in schedule.steps) * GH)
    all_tables: list[Tables] = []

    def new_tables(num_rows: int) -> Optional[Tables]:
        if not keep:
            return None
        hidden, gates, *kept = (
            projected.new_empty(S, num_rows, width) for width in [H, GH] + [H] * cell.num_kept
        )
        all_tables.append(Tables(hidden, gates, tuple(kept)))
        return all_tables[-1]

    def advance(step: Step, x: Tensor, tables: Optional[Tables], weights: list[Tensor]) -> None:
        """Advance the step's states by x, W x + b of a token; without `weights`, U h is zero."""
        current = [step.of_states(state) for state in states]  # (S, suffixes, sentences, H)
        hidden = current[0]
        kept: tuple[Tensor, ...] = ()
        if tables is None:
            assert buffer is not None
            gates = buffer[: S * step.num_rows * GH].view(*hidden.shape[:3], GH)
        else:
            old_hidden, gates, kept = tables.at(step)
            hidden = old_hidden.copy_(hidden)
        u = [product(h.flatten(0, 1), weight) for h, weight in zip(hidden, weights)]
        cell.forward(backend, x, u or None, current, gates, kept)

    beginning = schedule.beginning
    advance(beginning, projected[:, : beginning.suffixes], new_tables(beginning.num_rows), [])
    fast_weights = [backend.products.reordered(weight) for weight in weights]
    prefixes = projected.new_zeros(S, T, B, H)
    for chunk in schedule.chunks:
        tables = new_tables(chunk[-1].offset + chunk[-1].num_rows)
        for step in chunk:
            if step.num_rows:
                x = projected[:, step.t : step.t + 1, : step.sentences]
                advance(step, x, tables, fast_weights)
            prefixes[:, step.t, : step.sentences] = states[0][:, step.first, : step.sentences]
    return prefixes, states[0], all_tables


def backward(
    backend: Backend,
    schedule: Schedule,
    cell: Cell,
    shape: torch.Size,
    weights: Sequence[Tensor],
    all_tables: list[Tables],
    grad_prefixes: Tensor,
    grad_suffixes: Tensor,
) -> tuple[Tensor, list[Tensor]]:
    """Return the gradients of `projected`, whose shape is `shape`, and of each of `weights`."""
    product = backend.products.product
    transposed = [weight.t() for weight in weights]
    grad_projected = grad_prefixes.new_zeros(shape)
    grad_weights = [torch.zeros_like(weight) for weight in weights]
    # Before the backward pass of its last step, a suffix has the gradient of its encoding.
    grads = [grad_suffixes.clone(memory_format=torch.contiguous_format)]
    grads += [torch.zeros_like(grads[0]) for _ in range(cell.num_states - 1)]
    beginning_tables, *tables_of_chunks = all_tables
    for chunk, tables in zip(reversed(schedule.chunks), reversed(tables_of_chunks)):
        grad_u = torch.empty_like(tables.gates)
        for step in reversed(chunk):
            rows = (slice(None), step.t, slice(step.sentences))
            grads[0][:, step.first, : step.sentences] += grad_prefixes[rows]
            if not step.num_rows:
                continue
            tables_at = tables.at(step)
            current = [step.of_states(grad) for grad in grads]
            out = step.of_table(grad_u)
            cell.backward(current, tables_at, out)
            torch.sum(out, 1, out=grad_projected[rows])
            cell.to_gradient_of_product(out, tables_at.gates)
            for grad_hidden, out_s, weight in zip(current[0], out, transposed):
                grad_hidden += product(out_s.flatten(0, 1), weight).view_as(grad_hidden)
        for grad, grad_u_s, hidden in zip(grad_weights, grad_u, tables.hidden):
            grad += backend.products.product_over_rows(hidden, grad_u_s).t()
    beginning = beginning_tables.at(schedule.beginning)
    grad_beginnings = torch.empty_like(beginning.gates)
    cell.backward(grads, beginning, grad_beginnings)
    grad_projected[:, : schedule.num_starts] += grad_beginnings
    return grad_projected, grad_weights
