r"""The recurrence of SuBiLSTM over the suffixes that are still being read, and no others.

All suffixes begin at once: their first tokens need no product, as their states are zero. Then, at
token t, the suffixes that began at the tokens `first` ... t - 1 read it, in one product. Sentences
stand in the order of their lengths, longest first, so that the suffixes and the sentences
concerned are slices of the states: a sentence of T tokens costs T (T - 1) / 2 rows of a product.
States are replaced in place, so that those of a finished suffix are its encoding. The directions
advance side by side and have everything but their products in common.

In evaluation this is all that is kept. In training, each step's gates and former states are kept
as well; the backward pass is analytic, the same steps in reverse with the products transposed. An
LSTM's steps are compiled for CPUs, in `cpu`.
"""

from collections.abc import Sequence
from typing import Any, Literal, Optional

import torch

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward
from allennlp_sentmatch.nn.ops.common.products import product, product_over_rows, reordered
from allennlp_sentmatch.nn.ops.suffix import cpu
from allennlp_sentmatch.nn.ops.suffix.cells import CELLS, Cell
from allennlp_sentmatch.nn.ops.suffix.cpu import CompiledLSTMCell
from allennlp_sentmatch.nn.ops.suffix.schedule import Step, schedule


def suffix_recurrence(
    backend: Backend,
    projected: torch.Tensor,
    weights: Sequence[torch.Tensor],
    sizes: list[int],
    window: int,
    num_starts: int,
    cell: Literal["lstm", "gru"],
) -> tuple[torch.Tensor, torch.Tensor]:
    """As the function of the same name in `allennlp_sentmatch.nn.suffix_bilstm`, in S directions.

    # Parameters

    backend : `Backend`
        "eager", or for an LSTM "cpu".
    projected : `torch.Tensor`
        Shape (S, T, B, GH).
    weights : `Sequence[torch.Tensor]`
        The S directions' `weight_hh`, (GH, H) each.
    sizes, window, num_starts, cell
        As there.

    # Returns

    `Tuple[torch.Tensor, torch.Tensor]`
        As there, of shapes (S, T, B, H) and (S, num_starts, B, H).
    """
    chunks = schedule(sizes, window, num_starts)
    kernel = CELLS[cell]
    if backend.name == "cpu":
        kernel, projected = CompiledLSTMCell, projected.contiguous()
    if torch.is_grad_enabled() and any(x.requires_grad for x in (projected, *weights)):
        prefixes, suffixes = _SuffixRecurrence.apply(  # type: ignore[no-untyped-call]
            chunks, num_starts, kernel, projected, *weights
        )
    elif kernel is CompiledLSTMCell:
        prefixes, suffixes = cpu.read(chunks, num_starts, projected, weights)
    else:
        prefixes, suffixes = _read(chunks, num_starts, kernel, projected, *weights, saved=None)
    return prefixes, suffixes


def _read(
    chunks: list[list[Step]],
    num_starts: int,
    cell: Cell,
    projected: torch.Tensor,
    *weights: torch.Tensor,
    saved: Optional[list[torch.Tensor]],
) -> tuple[torch.Tensor, torch.Tensor]:
    """The encodings of the prefixes and suffixes; `saved` receives what `backward` needs."""
    S, T, B, GH = projected.shape
    H = weights[0].size(1)

    def room(rows: int) -> list[torch.Tensor]:
        """Tables (S, rows, ...) to be saved: of h, of the gates and of what the cell keeps."""
        if saved is None:
            return []
        widths = [H, GH] + [H] * cell.num_kept
        saved.extend(projected.new_empty(S, rows, width) for width in widths)
        return saved[-len(widths) :]

    states = [projected.new_zeros(S, num_starts, B, H) for _ in range(cell.num_states)]
    beginning = Step(0, 0, num_starts, B, 0)
    tables = room(beginning.num_rows)
    if saved is None:
        steps = [beginning, *(step for chunk in chunks for step in chunk)]
        workspace = projected.new_empty(S * max(step.num_rows for step in steps) * GH)

    def advance(step: Step, x: torch.Tensor) -> None:
        """Has the step's suffixes read their next token, of which x is W x + b."""
        reading = [step.of_states(state) for state in states]  # (S, suffixes, sentences, H)
        hidden = reading[0]
        kept: list[torch.Tensor] = []
        if saved is None:
            gates = workspace[: S * step.num_rows * GH].view(*hidden.shape[:3], GH)
        else:
            old_hidden, gates, *kept = (step.of_table(table) for table in tables)
            hidden = old_hidden.copy_(hidden)
        u = None
        if step is not beginning:
            u = [product(h.flatten(0, 1), weight) for h, weight in zip(hidden, fast_weights)]
        cell.forward(x, u, reading, gates, kept)

    advance(beginning, projected[:, :num_starts])
    fast_weights = [reordered(weight) for weight in weights]
    prefixes = projected.new_zeros(S, T, B, H)
    for chunk in chunks:
        tables = room(chunk[-1].offset + chunk[-1].num_rows)
        for step in chunk:
            if step.num_rows:
                advance(step, projected[:, step.t : step.t + 1, : step.sentences])
            prefixes[:, step.t, : step.sentences] = states[0][:, step.first, : step.sentences]
    return prefixes, states[0]


class _SuffixRecurrence(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        chunks: list[list[Step]],
        num_starts: int,
        cell: Cell,
        projected: torch.Tensor,
        *weights: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        saved = list(weights)
        encodings = _read(chunks, num_starts, cell, projected, *weights, saved=saved)
        ctx.save_for_backward(*saved)
        ctx.chunks, ctx.cell, ctx.shape = chunks, cell, projected.shape
        return encodings

    @staticmethod
    @analytic_backward
    def backward(
        ctx: Any, grad_prefixes: torch.Tensor, grad_suffixes: torch.Tensor
    ) -> tuple[Any, ...]:
        cell = ctx.cell
        S, num_starts, B, _ = grad_suffixes.shape
        weights, saved = ctx.saved_tensors[:S], list(ctx.saved_tensors[S:])
        num_tables = 2 + cell.num_kept
        transposed = [weight.t() for weight in weights]
        grad_projected = grad_prefixes.new_zeros(ctx.shape)
        grad_weights = [torch.zeros_like(weight) for weight in weights]
        # Until its last step is undone, a suffix has the gradient of its encoding.
        grads = [grad_suffixes.clone(memory_format=torch.contiguous_format)]
        grads += [torch.zeros_like(grads[0]) for _ in range(cell.num_states - 1)]
        for chunk in reversed(ctx.chunks):
            tables = saved[-num_tables:]
            del saved[-num_tables:]
            grad_u = torch.empty_like(tables[1])
            for step in reversed(chunk):
                read = (slice(None), step.t, slice(step.sentences))
                grads[0][:, step.first, : step.sentences] += grad_prefixes[read]
                if not step.num_rows:
                    continue
                old_hidden, gates, *kept = (step.of_table(table) for table in tables)
                reading = [step.of_states(grad) for grad in grads]
                out = step.of_table(grad_u)
                cell.backward(reading, old_hidden, gates, kept, out)
                torch.sum(out, 1, out=grad_projected[read])
                cell.to_gradient_of_product(out, gates)
                for grad_hidden, rows, weight in zip(reading[0], out, transposed):
                    grad_hidden += product(rows.flatten(0, 1), weight).view_as(grad_hidden)
            for grad, rows, hidden in zip(grad_weights, grad_u, tables[0]):
                grad += product_over_rows(hidden, rows).t()
        beginning = Step(0, 0, num_starts, B, 0)
        old_hidden, gates, *kept = (beginning.of_table(table) for table in saved)
        grad_beginnings = torch.empty_like(gates)
        cell.backward(grads, old_hidden, gates, kept, grad_beginnings)
        grad_projected[:, :num_starts] += grad_beginnings
        return None, None, None, grad_projected, *grad_weights
