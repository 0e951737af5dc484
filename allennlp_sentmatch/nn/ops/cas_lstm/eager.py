"""The steps of a layer of an LSTM or a CAS-LSTM as operations of torch, in place.

In the backward pass, the derivatives that do not depend on the gradients from outside are computed
for all steps at once. Then a step is a product and a few element-wise operations.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerGradients, LayerTables
from allennlp_sentmatch.nn.ops.common.activations import sigmoid_to_tanh
from allennlp_sentmatch.nn.ops.common.packing import steps


def forward(backend: Backend, tables: LayerTables) -> None:
    """Compute the gates, h and c, as `layer.py` says."""
    sizes = tables.sizes
    S, _, H = tables.hidden.shape
    R = tables.recurrent_width
    left_weight = tables.parameters.left_weight
    peephole = tables.parameters.peephole_left
    weights = backend.products.side_by_side(tables.parameters.weight_hh)
    buffer = tables.gates.new_empty(S, sizes[0], H)
    gates_at = steps(tables.gates, sizes)
    hidden_at = steps(tables.hidden, sizes)
    cell_at = steps(tables.cell, sizes)
    lower_at = None
    if tables.x.lower is not None:
        lower_at = steps(tables.x.lower, sizes)
    for t in range(tables.first_step, len(sizes)):
        n = sizes[t]
        a = gates_at[t]  # (S, n, GH)
        c = cell_at[t]  # (S, n, H)
        i, f, g, o = a[..., : 4 * H].chunk(4, -1)
        if t > 0:
            left_hidden = hidden_at[t - 1][:, :n]  # (S, n, H), as is the next
            left_cell = cell_at[t - 1][:, :n]
            backend.products.add_products(a[..., :R], left_hidden, weights)
            if peephole is not None:
                a[..., R:].addcmul_(left_cell, peephole)
        g.mul_(2)
        a.sigmoid_()
        sigmoid_to_tanh(g)
        torch.mul(i, g, out=c)
        if t > 0:
            if isinstance(left_weight, float):
                c.addcmul_(f, left_cell, value=left_weight)
            else:
                c.addcmul_(f, left_cell * left_weight)
        if lower_at is not None:
            v = a[..., 4 * H :]
            c.addcmul_(v, lower_at[t])
        tanh_cell = backend.tanh(c, out=buffer[:, :n])
        torch.mul(o, tanh_cell, out=hidden_at[t])


def backward(
    backend: Backend,
    tables: LayerTables,
    grads: LayerGradients,
) -> None:
    """Compute the gradients from the last step to the first, as `layer.py` says."""
    sizes = tables.sizes
    factors = _factors(backend, tables, grads.left_weight is not None)
    transposed = [weight.t() for weight in tables.parameters.weight_hh]
    weights = backend.products.side_by_side(transposed)
    grad_hidden = grads.hidden.clone(memory_format=torch.contiguous_format)
    grad_hidden_at = steps(grad_hidden, sizes)
    grad_cell_at = steps(factors.grad_cell, sizes)
    outer_cell_at = None
    if grads.cell is not None:
        outer_cell_at = steps(grads.cell, sizes)
    gates_at = steps(tables.gates, sizes)
    by_cell_at = steps(factors.by_cell, sizes)
    by_left_cell_at = steps(factors.by_left_cell, sizes)
    for t in reversed(range(tables.first_step, len(sizes))):
        dh = grad_hidden_at[t]  # (S, n, H), as is the next
        dc = grad_cell_at[t]
        n_after = sizes[t + 1] if t + 1 < len(sizes) else 0
        if n_after:
            recurrent = gates_at[t + 1][..., : tables.recurrent_width]
            backend.products.add_products(dh[:, :n_after], recurrent, weights)
        if outer_cell_at is None:
            torch.mul(dh, by_cell_at[t], out=dc)
        else:
            torch.addcmul(outer_cell_at[t], dh, by_cell_at[t], out=dc)
        if n_after:
            dc[:, :n_after].addcmul_(grad_cell_at[t + 1], by_left_cell_at[t + 1])
        _multiply_gates(gates_at[t], dh, dc)
    if grads.lower is not None:
        torch.mul(factors.by_lower, factors.grad_cell, out=grads.lower)
    if grads.left_weight is not None:
        by_row = factors.by_left_weight.mul_(factors.grad_cell)
        by_weight = by_row[:, tables.first_row :]
        grads.left_weight.add_(by_weight.sum(1, keepdim=True))
    if grads.initial_cell is not None:
        grads.initial_cell.zero_()
        if len(sizes) > 1:
            at_first = grads.initial_cell[:, : sizes[1]]
            torch.mul(grad_cell_at[1], by_left_cell_at[1], out=at_first)


def _multiply_gates(
    factors: Tensor,
    dh: Tensor,
    dc: Tensor,
) -> None:
    """Turn the factors (S, n, GH) of the gates' arguments into their gradients, in place.

    `dh` and `dc` (S, n, H) are the gradients of h and c.
    """
    S, n, H = dh.shape
    blocks = factors.view(S, n, -1, H)
    blocks[:, :, :3].mul_(dc.unsqueeze(2))  # i, f and g
    blocks[:, :, 3].mul_(dh)  # o
    if blocks.size(2) > 4:
        blocks[:, :, 4].mul_(dc)  # v


class _Factors(NamedTuple):
    """Derivatives that do not depend on the gradients from outside, (S, N, H) each.

    - `by_cell`: dh_t / dc_t;
    - `by_left_cell`: dc_t / dc_{t-1};
    - `by_lower`: the derivative of c_t by the cell of the layer below; `None` without one;
    - `by_left_weight`: dc_t / d(left weight); `None` if it is not needed.

    `grad_cell` is a buffer for the gradient of c_t.
    """

    by_cell: Tensor
    by_left_cell: Tensor
    by_lower: Any
    by_left_weight: Any
    grad_cell: Tensor


def _factors(
    backend: Backend,
    tables: LayerTables,
    with_left_weight: bool,
) -> _Factors:
    """Turn each gate into the derivative of c (for o, of h) by its argument, in place.

    Its product with the gradient of c (of h) is the gradient of the argument. Return the other
    factors. `with_left_weight` says if `by_left_weight` is needed.
    """
    h = tables.hidden
    H = h.size(-1)
    i, f, g, o = tables.gates[..., : 4 * H].chunk(4, -1)
    v = tables.gates[..., 4 * H :]
    by_left_cell = f * tables.parameters.left_weight
    by_forget = [f]
    by_left_weight = None
    if with_left_weight:
        by_left_weight = f.clone()
        by_forget.append(by_left_weight)
    tanh_cell = backend.tanh(tables.cell)
    by_cell = torch.addcmul(o, h, tanh_cell, value=-1, out=tanh_cell)  # o * (1 - tanh(c)^2)
    buffer = torch.mul(i, g)
    torch.addcmul(i, buffer, g, value=-1, out=g)  # i * (1 - g * g)
    torch.addcmul(buffer, buffer, i, value=-1, out=i)  # i * (1 - i) * g
    torch.addcmul(by_left_cell, by_left_cell, f, value=-1, out=f)
    torch.addcmul(h, h, o, value=-1, out=o)  # o * (1 - o) * tanh(c)
    left_cell = tables.packing.previous(tables.cell)
    second = tables.packing.num_sentences  # the first row of the second step
    for factor in by_forget:
        factor[:, :second] = 0  # the first step has no cell before it
        factor[:, second:].mul_(left_cell)
    by_lower = None
    if tables.x.lower is not None:
        by_lower = v.clone()
        torch.addcmul(v, v, v, value=-1, out=v)
        v.mul_(tables.x.lower)  # v * (1 - v) * c'
    if tables.parameters.peephole_left is not None:
        by_left_cell.addcmul_(v, tables.parameters.peephole_left)
    return _Factors(by_cell, by_left_cell, by_lower, by_left_weight, buffer)
