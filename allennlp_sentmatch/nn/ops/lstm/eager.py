r"""The steps of `lstm_layer` as operations of torch's, in place and on rows side by side.

tanh(x) is computed as 2 sigmoid(2x) - 1, which takes a CPU a third of the time and is as exact in
absolute terms.

In the backward pass, the derivatives that do not depend on the gradients from outside are made for
several steps at once. Then a step is a product and a few element-wise operations. Only the gates
are a table of all steps, made into that of their arguments' gradients; the rest is computed anew,
tanh(c) too, and used chunk by chunk. Tables of all steps would each time be asked of the system,
and page by page, anew.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional, Union

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.activations import MINUS_ONE, tanh
from allennlp_sentmatch.nn.ops.common.packing import steps
from allennlp_sentmatch.nn.ops.common.products import product, reordered

#: The steps of a chunk, but for the last of a batch, have at least this many rows.
ROWS_PER_CHUNK = 512


def read_steps(
    sizes: list[int],
    weight_hh: Sequence[Tensor],
    gates: Tensor,
    hidden: Tensor,
    cell: Tensor,
    lower: Optional[Tensor],
    left_weight: Union[Tensor, float],
    lower_weight: float,
    peephole_left: Optional[Tensor],
) -> None:
    """Make of the gates' arguments, aside from what is recurrent, the gates, and of them h and c.

    Shapes: `gates` (S, N, GH); `hidden` and `cell`, which are written, and `lower` (S, N, H).
    """
    S = len(weight_hh)
    R, H = weight_hh[0].shape
    room = gates.new_empty(S, sizes[0], H)
    gates_at, hidden_at, cell_at = (steps(x, sizes) for x in (gates, hidden, cell))
    lower_at = None if lower is None else steps(lower, sizes)
    weights = [reordered(weight) for weight in weight_hh]
    # What U h is added to, and h, for each direction.
    recurrent_at = [steps(x[:, :R], sizes) for x in gates]
    left_hidden_at = [steps(x, sizes) for x in hidden]
    for t, n in enumerate(sizes):
        a, c = gates_at[t], cell_at[t]  # (S, n, GH), (S, n, H)
        i, f, g, o = a.chunk(a.size(-1) // H, -1)[:4]
        if t > 0:
            left_cell = cell_at[t - 1][:, :n]
            for s, weight in enumerate(weights):
                recurrent_at[s][t].add_(product(left_hidden_at[s][t - 1][:n], weight))
            if peephole_left is not None:
                a[..., R:].addcmul_(left_cell, peephole_left)
        g.mul_(2)
        a.sigmoid_()
        torch.add(MINUS_ONE, g, alpha=2, out=g)  # tanh(x) = 2 sigmoid(2x) - 1
        torch.mul(i, g, out=c)
        if t > 0:
            if isinstance(left_weight, float):
                c.addcmul_(f, left_cell, value=left_weight)
            else:
                c.addcmul_(f, left_cell * left_weight)
        if lower_at is not None:
            c.addcmul_(a[..., 4 * H :], lower_at[t], value=lower_weight)
        torch.mul(o, tanh(c, out=room[:, :n]), out=hidden_at[t])


def read_back(
    sizes: list[int],
    weight_hh: Sequence[Tensor],
    hidden: Tensor,
    cell: Tensor,
    grad_hidden: Tensor,
    grad_cell: Optional[Tensor],
    gates: Tensor,
    lower: Optional[Tensor],
    left_weight: Union[Tensor, float],
    lower_weight: float,
    peephole_left: Optional[Tensor],
    grad_lower: Optional[Tensor],
    grad_left_weight: Optional[Tensor],
) -> None:
    """Make of the gates the gradients of their arguments.

    # Parameters

    sizes : `List[int]`
        The packing's.
    weight_hh, lower, left_weight, lower_weight, peephole_left
        As in `lstm_layer`.
    hidden, cell : `Tensor`
        Shape (S, N, H): what it returned.
    grad_hidden, grad_cell : `Tensor`
        Shape (S, N, H): their gradients from outside.
    gates : `Tensor`
        Shape (S, N, GH): [i; f; g; o; v], to be replaced.
    grad_lower : `Optional[Tensor]`
        Room for the gradient of `lower`, aside from what passes through a peephole.
    grad_left_weight : `Optional[Tensor]`
        The gradient of `left_weight` is added to it.
    """
    weights = [weight.t() for weight in weight_hh]
    cell_at = steps(cell, sizes)
    after: Optional[_Step] = None
    for first, chunk, rows in reversed(_chunks(sizes)):
        # Each gate becomes the derivative of c by its argument (of h, for o). Times the gradient of
        # c (of h) that becomes the gradient of the argument, in `_read_chunk_back`.
        a, h = gates[:, rows], hidden[:, rows]
        i, f, g, o = a.chunk(a.size(-1) // h.size(-1), -1)[:4]
        v = a[..., 4 * h.size(-1) :]
        by_left_cell = f * left_weight
        by_left_weight = None if grad_left_weight is None else f.clone()
        tanh_cell = tanh(cell[:, rows])
        by_cell = torch.addcmul(o, h, tanh_cell, value=-1, out=tanh_cell)  # o * (1 - tanh(c)^2)
        total = torch.mul(i, g)  # room for the gradient of c
        torch.addcmul(i, total, g, value=-1, out=g)  # i * (1 - g * g)
        torch.addcmul(total, total, i, value=-1, out=i)  # i * (1 - i) * g
        torch.addcmul(by_left_cell, by_left_cell, f, value=-1, out=f)
        torch.addcmul(h, h, o, value=-1, out=o)  # o * (1 - o) * tanh(c)
        for by_forget in (f,) if by_left_weight is None else (f, by_left_weight):
            for t, x in enumerate(steps(by_forget, chunk), first):
                if t == 0:
                    x.zero_()
                else:
                    x.mul_(cell_at[t - 1][:, : x.size(1)])
        if lower is not None:
            by_lower = v * lower_weight
            torch.addcmul(by_lower, by_lower, v, value=-1, out=v).mul_(lower[:, rows])
        if peephole_left is not None:
            by_left_cell.addcmul_(v, peephole_left)
        after = _read_chunk_back(
            chunk,
            weights,
            grad_hidden[:, rows],
            None if grad_cell is None else grad_cell[:, rows],
            a,
            by_cell,
            by_left_cell,
            total,
            after,
        )
        if grad_lower is not None:
            torch.mul(by_lower, total, out=grad_lower[:, rows])
        if grad_left_weight is not None and by_left_weight is not None:
            grad_left_weight += by_left_weight.mul_(total).sum(1, keepdim=True)


def _chunks(sizes: list[int]) -> list[tuple[int, list[int], slice]]:
    """Steps in succession: their first, their sizes and their rows."""
    chunks = []
    first = offset = num_rows = 0
    for t, n in enumerate(sizes):
        num_rows += n
        if num_rows >= ROWS_PER_CHUNK or t + 1 == len(sizes):
            chunks.append((first, sizes[first : t + 1], slice(offset, offset + num_rows)))
            first, offset, num_rows = t + 1, offset + num_rows, 0
    return chunks


class _Step(NamedTuple):
    """What the backward pass of a step leaves for that of the step before."""

    grad_gates: Tensor  # (S, n, GH)
    grad_cell: Tensor  # (S, n, H)
    by_left_cell: Tensor  # (S, n, H): of its c, by c of the step before


def _read_chunk_back(
    sizes: list[int],
    weights: Sequence[Tensor],
    grad_hidden: Tensor,
    grad_cell: Optional[Tensor],
    grad_gates: Tensor,
    by_cell: Tensor,
    by_left_cell: Tensor,
    total: Tensor,
    after: Optional[_Step],
) -> Optional[_Step]:
    """Read some steps back, of which the last comes before `after`; return the first.

    `grad_hidden` and `grad_cell` are the gradients from outside; `by_cell` is dh_t / dc_t,
    `by_left_cell` dc_t / dc_{t-1}. `grad_gates` becomes the gradient of the gates' arguments, to
    `total` that of c is written; `weights` are U transposed.
    """
    S, (H, R) = len(weights), weights[0].shape
    room = by_cell.new_empty(S, sizes[0], H)
    outer_cell_at = None if grad_cell is None else steps(grad_cell, sizes)
    tables = [steps(x, sizes) for x in (grad_hidden, total, grad_gates, by_cell, by_left_cell)]
    for t in range(len(sizes) - 1, -1, -1):
        dh, dc, a, h_by_c, c_by_left_cell = (table[t] for table in tables)
        n = sizes[t]
        if after is not None:
            n_after = after.grad_cell.size(1)
            outer, dh = dh, room[:, :n]
            for s, weight in enumerate(weights):
                recurrent = product(after.grad_gates[s, :, :R], weight)  # (n_after, H)
                torch.add(outer[s, :n_after], recurrent, out=dh[s, :n_after])
            if n_after < n:
                dh[:, n_after:] = outer[:, n_after:]
        if outer_cell_at is None:
            torch.mul(dh, h_by_c, out=dc)
        else:
            torch.addcmul(outer_cell_at[t], dh, h_by_c, out=dc)
        if after is not None:
            dc[:, :n_after].addcmul_(after.grad_cell, after.by_left_cell)
        blocks = a.view(S, n, -1, H)
        blocks[:, :, :3].mul_(dc.unsqueeze(2))
        blocks[:, :, 3].mul_(dh)
        blocks[:, :, 4:].mul_(dc.unsqueeze(2))
        after = _Step(a, dc, c_by_left_cell)
    return after
