r"""The recurrence of SuBiLSTM over the suffixes that are still being read, and no others.

All suffixes begin at once: their first tokens need no product, as their states are zero. Then, at
token t, the suffixes that began at the tokens `first` ... t - 1 read it, in one product. Sentences
stand in the order of their lengths, longest first, so that the suffixes and the sentences
concerned are slices of the states: a sentence of T tokens costs T (T - 1) / 2 rows of a product.
States are replaced in place, so that those of a finished suffix are its encoding.

In evaluation this is all that is kept. In training, each step's gates and former states are kept
as well; the backward pass is analytic, the same steps in reverse with the products transposed.
"""

from typing import Any, Literal, NamedTuple, Optional

import torch

from allennlp_sentmatch.nn.kernels.once_differentiable import once_differentiable
from allennlp_sentmatch.nn.kernels.products import product, product_over_rows, reordered
from allennlp_sentmatch.nn.kernels.suffix_cells import CELLS, Cell

#: Steps are kept together up to about this many rows, of which the weights' gradient is one
#: product. Larger tables would each time be asked of the system, and page by page, anew.
ROWS_PER_CHUNK = 4096


class Step(NamedTuple):
    """Token `t` of `sentences` sentences is read by `suffixes` suffixes, from `first` on."""

    t: int
    first: int
    suffixes: int
    sentences: int
    #: Where its rows begin in the tables of its chunk.
    offset: int

    @property
    def rows(self) -> slice:
        """Its rows in the tables of its chunk, `suffixes * sentences` of them."""
        return slice(self.offset, self.offset + self.suffixes * self.sentences)

    @property
    def reading(self) -> tuple[slice, slice]:
        """Where the states of the suffixes are, among those of all."""
        return slice(self.first, self.first + self.suffixes), slice(self.sentences)


def schedule(sizes: list[int], window: int, num_starts: int) -> list[list[Step]]:
    """The steps, in chunks; the arguments are those of `suffix_recurrence`."""
    chunks: list[list[Step]] = []
    offset = ROWS_PER_CHUNK
    for t, sentences in enumerate(sizes):
        if offset >= ROWS_PER_CHUNK:
            chunks.append([])
            offset = 0
        first = max(0, t + 1 - window)
        step = Step(t, first, min(t, num_starts) - first, sentences, offset)
        chunks[-1].append(step)
        offset = step.rows.stop
    return chunks


def suffix_recurrence(
    projected: torch.Tensor,
    weight_hh: torch.Tensor,
    sizes: list[int],
    window: int,
    num_starts: int,
    cell: Literal["lstm", "gru"],
) -> tuple[torch.Tensor, torch.Tensor]:
    """As the function of the same name in `allennlp_sentmatch.nn.suffix_bilstm`."""
    chunks = schedule(sizes, window, num_starts)
    arguments = (projected, weight_hh, chunks, num_starts, CELLS[cell])
    if torch.is_grad_enabled() and (projected.requires_grad or weight_hh.requires_grad):
        prefixes, suffixes = _SuffixRecurrence.apply(*arguments)  # type: ignore[no-untyped-call]
    else:
        prefixes, suffixes = _read(*arguments, saved=None)
    return prefixes, suffixes


def _read(
    projected: torch.Tensor,  # (T, B, GH)
    weight_hh: torch.Tensor,  # (GH, H)
    chunks: list[list[Step]],
    num_starts: int,
    cell: Cell,
    saved: Optional[list[torch.Tensor]],
) -> tuple[torch.Tensor, torch.Tensor]:
    """The encodings (T, B, H) and (num_starts, B, H); `saved` receives what `backward` needs."""
    T, B, _ = projected.shape
    H = weight_hh.size(1)

    def room(rows: int) -> list[torch.Tensor]:
        """Tables (rows, ...) of h and of what the cell names; none where nothing is saved."""
        if saved is None:
            return []
        tables = [projected.new_empty(rows, width * H) for width in (1, *cell.kept_widths)]
        saved.extend(tables)
        return tables

    states = [projected.new_zeros(num_starts, B, H) for _ in range(cell.num_states)]
    kept = [table.view(num_starts, B, -1) for table in room(num_starts * B)]
    if kept:
        kept[0].zero_()
    beginnings = projected[:num_starts]
    cell.forward(beginnings, torch.zeros_like(beginnings), states, kept[1:])
    prefixes = projected.new_zeros(T, B, H)
    weight = reordered(weight_hh)
    for chunk in chunks:
        tables = room(chunk[-1].rows.stop)
        for step in chunk:
            if step.suffixes:
                reading = [state[step.reading] for state in states]  # (suffixes, sentences, H)
                hidden = reading[0].flatten(0, 1)
                if tables:
                    hidden = tables[0][step.rows].copy_(hidden)
                shape = (step.suffixes, step.sentences, -1)
                u = product(hidden, weight).view(shape)
                x = projected[step.t, : step.sentences]
                cell.forward(x, u, reading, [table[step.rows].view(shape) for table in tables[1:]])
            prefixes[step.t, : step.sentences] = states[0][step.first, : step.sentences]
    return prefixes, states[0]


class _SuffixRecurrence(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        projected: torch.Tensor,
        weight_hh: torch.Tensor,
        chunks: list[list[Step]],
        num_starts: int,
        cell: Cell,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        saved = [weight_hh]
        encodings = _read(projected, weight_hh, chunks, num_starts, cell, saved)
        ctx.save_for_backward(*saved)
        ctx.chunks, ctx.cell, ctx.shape = chunks, cell, projected.shape
        return encodings

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, grad_prefixes: torch.Tensor, grad_suffixes: torch.Tensor
    ) -> tuple[Any, ...]:
        cell = ctx.cell
        weight_hh, *saved = ctx.saved_tensors
        num_tables = 1 + len(cell.kept_widths)
        transposed = reordered(weight_hh.t().contiguous())
        grad_projected = grad_prefixes.new_zeros(ctx.shape)
        grad_transposed = weight_hh.new_zeros(weight_hh.t().shape)
        # Until its last step is undone, a suffix has the gradient of its encoding.
        grads = [grad_suffixes.clone()]
        grads += [torch.zeros_like(grad_suffixes) for _ in range(cell.num_states - 1)]
        for chunk in reversed(ctx.chunks):
            tables = saved[-num_tables:]
            del saved[-num_tables:]
            grad_u = tables[0].new_empty(tables[0].size(0), weight_hh.size(0))
            for step in reversed(chunk):
                grads[0][step.first, : step.sentences] += grad_prefixes[step.t, : step.sentences]
                if not step.suffixes:
                    continue
                shape = (step.suffixes, step.sentences, -1)
                old_hidden, *kept = (table[step.rows].view(shape) for table in tables)
                reading = [grad[step.reading] for grad in grads]
                out = grad_u[step.rows].view(shape)
                cell.backward(reading, old_hidden, kept, out)
                torch.sum(out, 0, out=grad_projected[step.t, : step.sentences])
                cell.to_gradient_of_product(out, kept)
                reading[0] += product(grad_u[step.rows], transposed).view(shape)
            grad_transposed += product_over_rows(tables[0], grad_u)
        old_hidden, *kept = (table.view(*grad_suffixes.shape[:2], -1) for table in saved)
        grad_beginnings = torch.empty_like(grad_projected[: grad_suffixes.size(0)])
        cell.backward(grads, old_hidden, kept, grad_beginnings)
        grad_projected[: grad_suffixes.size(0)] += grad_beginnings
        return grad_projected, grad_transposed.t(), None, None, None
