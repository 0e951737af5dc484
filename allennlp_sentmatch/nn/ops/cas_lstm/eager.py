r"""The steps of a layer as operations of torch, in place and on adjacent rows.

In the backward pass, derivatives that do not depend on incoming gradients are computed for several
steps at once, a chunk. Then a step is a product and a few element-wise operations. Only the gates
have a table of all steps; the other derivatives, and tanh(c), are recomputed chunk by chunk, since
new memory for further tables would be slow.
"""

from typing import NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerGradients, LayerTables
from allennlp_sentmatch.nn.ops.common.activations import MINUS_ONE
from allennlp_sentmatch.nn.ops.common.packing import steps

#: Each chunk except the last one of a batch has at least this many rows.
ROWS_PER_CHUNK = 512


def forward(backend: Backend, tables: LayerTables) -> None:
    """Turn the gates' arguments without U h into the gates, and compute h and c."""
    sizes = tables.sizes
    H = tables.hidden.size(-1)
    gates = tables.gates
    lower = tables.x.lower
    parameters = tables.parameters
    left_weight = parameters.left_weight
    peephole_left = parameters.peephole_left
    buffer = gates.new_empty(len(gates), sizes[0], H)
    gates_at, hidden_at, cell_at = (steps(x, sizes) for x in (gates, tables.hidden, tables.cell))
    lower_at = None if lower is None else steps(lower, sizes)
    R = parameters.weight_hh[0].size(0)
    weights = backend.products.side_by_side(parameters.weight_hh)
    for t in range(tables.first_step, len(sizes)):
        n = sizes[t]
        a = gates_at[t]  # (S, n, GH)
        c = cell_at[t]  # (S, n, H)
        i, f, g, o = a.chunk(a.size(-1) // H, -1)[:4]
        if t > 0:
            left_cell = cell_at[t - 1][:, :n]
            backend.products.add_products(a[..., :R], hidden_at[t - 1][:, :n], weights)
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
            c.addcmul_(a[..., 4 * H :], lower_at[t], value=parameters.lower_weight)
        torch.mul(o, backend.tanh(c, out=buffer[:, :n]), out=hidden_at[t])


def backward(backend: Backend, tables: LayerTables, grads: LayerGradients) -> None:
    """Turn the gates into the gradients of their arguments, and fill the buffers of `grads`."""
    weight_hh = tables.parameters.weight_hh
    R, H = weight_hh[0].shape
    weights = backend.products.side_by_side([weight.t() for weight in weight_hh])
    after: Optional[_StepGradients] = None
    for first, chunk, rows in reversed(_chunks(tables.sizes, tables.first_step)):
        factors = _factors(backend, tables, first, chunk, rows, grads.left_weight is not None)
        grad_hidden = grads.hidden[:, rows].clone(memory_format=torch.contiguous_format)
        outer_cell_at = None if grads.cell is None else steps(grads.cell[:, rows], chunk)
        of_chunk = (grad_hidden, factors.grad_cell, tables.gates[:, rows], *factors[:2])
        tables_at = [steps(x, chunk) for x in of_chunk]
        for t in range(len(chunk) - 1, -1, -1):
            dh, dc, a, h_by_c, c_by_left_cell = (table[t] for table in tables_at)
            if after is not None:
                n_after = after.grad_cell.size(1)
                recurrent = after.grad_gates[..., :R]
                backend.products.add_products(dh[:, :n_after], recurrent, weights)
            if outer_cell_at is None:
                torch.mul(dh, h_by_c, out=dc)
            else:
                torch.addcmul(outer_cell_at[t], dh, h_by_c, out=dc)
            if after is not None:
                dc[:, :n_after].addcmul_(after.grad_cell, after.by_left_cell)
            blocks = a.view(*a.shape[:2], -1, H)
            blocks[:, :, :3].mul_(dc.unsqueeze(2))
            blocks[:, :, 3].mul_(dh)
            if blocks.size(2) > 4:
                blocks[:, :, 4:].mul_(dc.unsqueeze(2))
            after = _StepGradients(a, dc, c_by_left_cell)
        if grads.lower is not None and factors.by_lower is not None:
            torch.mul(factors.by_lower, factors.grad_cell, out=grads.lower[:, rows])
        if grads.left_weight is not None and factors.by_left_weight is not None:
            by_weight = factors.by_left_weight.mul_(factors.grad_cell)
            grads.left_weight.add_(by_weight.sum(1, keepdim=True))
    if grads.initial_cell is not None:
        grads.initial_cell.zero_()
        if after is not None:
            n = after.grad_cell.size(1)
            torch.mul(after.grad_cell, after.by_left_cell, out=grads.initial_cell[:, :n])


class _StepGradients(NamedTuple):
    """The gradients that a step's backward pass gives to the preceding step."""

    grad_gates: Tensor  # (S, n, GH)
    grad_cell: Tensor  # (S, n, H)
    by_left_cell: Tensor  # (S, n, H): the derivative of its c by the preceding c


class _Factors(NamedTuple):
    """Derivatives that do not depend on incoming gradients, (S, rows of a chunk, H)."""

    by_cell: Tensor  # dh_t / dc_t
    by_left_cell: Tensor  # dc_t / dc_{t-1}
    by_lower: Optional[Tensor]  # dc_t / dc_t of the layer below
    by_left_weight: Optional[Tensor]  # dc_t / d(left weight)
    grad_cell: Tensor  # a buffer for the gradient of c_t


def _factors(
    backend: Backend,
    tables: LayerTables,
    first: int,
    chunk: list[int],
    rows: slice,
    with_left_weight: bool,
) -> _Factors:
    """Turn each gate into the derivative of c (for o, of h) by its argument.

    Its product with the gradient of c (of h) is the gradient of the argument.
    """
    a = tables.gates[:, rows]
    h = tables.hidden[:, rows]
    parameters = tables.parameters
    i, f, g, o = a.chunk(a.size(-1) // h.size(-1), -1)[:4]
    v = a[..., 4 * h.size(-1) :]
    by_left_cell = f * parameters.left_weight
    by_left_weight = f.clone() if with_left_weight else None
    tanh_cell = backend.tanh(tables.cell[:, rows])
    by_cell = torch.addcmul(o, h, tanh_cell, value=-1, out=tanh_cell)  # o * (1 - tanh(c)^2)
    buffer = torch.mul(i, g)
    torch.addcmul(i, buffer, g, value=-1, out=g)  # i * (1 - g * g)
    torch.addcmul(buffer, buffer, i, value=-1, out=i)  # i * (1 - i) * g
    torch.addcmul(by_left_cell, by_left_cell, f, value=-1, out=f)
    torch.addcmul(h, h, o, value=-1, out=o)  # o * (1 - o) * tanh(c)
    cell_at = steps(tables.cell, tables.sizes)
    for by_forget in (f,) if by_left_weight is None else (f, by_left_weight):
        for t, x in enumerate(steps(by_forget, chunk), first):
            if t == 0:
                x.zero_()
            else:
                x.mul_(cell_at[t - 1][:, : x.size(1)])
    by_lower = None
    if tables.x.lower is not None:
        by_lower = v * parameters.lower_weight
        torch.addcmul(by_lower, by_lower, v, value=-1, out=v).mul_(tables.x.lower[:, rows])
    if parameters.peephole_left is not None:
        by_left_cell.addcmul_(v, parameters.peephole_left)
    return _Factors(by_cell, by_left_cell, by_lower, by_left_weight, buffer)


def _chunks(sizes: list[int], first: int) -> list[tuple[int, list[int], slice]]:
    """Group the steps from `first` on: each chunk's first step, its sizes and its rows."""
    chunks = []
    offset = sum(sizes[:first])
    num_rows = 0
    for t in range(first, len(sizes)):
        num_rows += sizes[t]
        if num_rows >= ROWS_PER_CHUNK or t + 1 == len(sizes):
            chunks.append((first, sizes[first : t + 1], slice(offset, offset + num_rows)))
            first = t + 1
            offset = offset + num_rows
            num_rows = 0
    return chunks
