r"""The steps of a layer in Triton, for GPUs: a step is a product and one launch.

That launch is for all that is element-wise in a step, in all directions. A table of all steps has
a row for each token; `start` is the first of a step's rows, and each row's predecessor, one step
before, is found from the first row of that step.
"""

from itertools import accumulate
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerGradients, LayerTables
from allennlp_sentmatch.nn.ops.common.activations import per_feature

try:
    import triton
    import triton.language as tl
except ImportError:  # AllenNLP imports all of a package's modules, whether there is Triton or not
    HAS_TRITON = False
else:
    HAS_TRITON = True

BLOCK = 256


def forward(backend: Backend, tables: LayerTables) -> None:
    """As `eager.forward`."""
    sizes, gates, hidden = tables.sizes, tables.gates, tables.hidden
    S, N, H = hidden.shape
    weights = torch.stack(list(tables.parameters.weight_hh)).transpose(1, 2)  # (S, H, R)
    R = weights.size(2)
    vectors = _vectors(tables)
    starts = [0, *accumulate(sizes)]
    with torch.cuda.device_of(hidden):
        for t in range(tables.first_step, len(sizes)):
            n, start, left_start = sizes[t], starts[t], starts[max(t - 1, 0)]
            if t > 0:
                left_hidden = hidden[:, left_start : left_start + n]
                gates[:, start : start + n, :R].baddbmm_(left_hidden, weights)
            _forward_step[(triton.cdiv(n * H, BLOCK), S)](
                gates,
                hidden,
                tables.cell,
                tables.x.lower,
                *vectors,
                N,
                start,
                left_start,
                n,
                H=H,
                HAS_LOWER=tables.x.lower is not None,
                HAS_PEEPHOLE=tables.parameters.peephole_left is not None,
                BLOCK=BLOCK,
            )


def backward(backend: Backend, tables: LayerTables, grads: LayerGradients) -> None:
    """As `eager.backward`."""
    sizes, gates, hidden = tables.sizes, tables.gates, tables.hidden
    S, N, H = hidden.shape
    weights = torch.stack(list(tables.parameters.weight_hh))  # (S, R, H)
    R = weights.size(1)
    vectors = _vectors(tables)
    total_grad_hidden = grads.hidden.clone(memory_format=torch.contiguous_format)
    grad_cell = None if grads.cell is None else grads.cell.contiguous()
    from_after = hidden.new_zeros(S, sizes[0], H)  # the gradient of c from the step after
    by_left_weight = None if grads.left_weight is None else torch.zeros_like(hidden)
    starts = [0, *accumulate(sizes)]
    with torch.cuda.device_of(hidden):
        for t in range(len(sizes) - 1, tables.first_step - 1, -1):
            n, start, left_start = sizes[t], starts[t], starts[max(t - 1, 0)]
            if t + 1 < len(sizes):
                after = slice(starts[t + 1], starts[t + 2])
                total_grad_hidden[:, start : start + sizes[t + 1]].baddbmm_(
                    gates[:, after, :R], weights
                )
            _backward_step[(triton.cdiv(n * H, BLOCK), S)](
                gates,
                tables.cell,
                tables.x.lower,
                *vectors,
                total_grad_hidden,
                grad_cell,
                from_after,
                grads.lower,
                by_left_weight,
                N,
                start,
                left_start,
                n,
                sizes[0],
                H=H,
                HAS_LOWER=tables.x.lower is not None,
                HAS_PEEPHOLE=tables.parameters.peephole_left is not None,
                HAS_GRAD_CELL=grad_cell is not None,
                HAS_GRAD_LOWER=grads.lower is not None,
                HAS_GRAD_LEFT_WEIGHT=by_left_weight is not None,
                BLOCK=BLOCK,
            )
    if grads.left_weight is not None and by_left_weight is not None:
        grads.left_weight.add_(by_left_weight.sum(1, keepdim=True))
    if grads.initial_cell is not None:
        grads.initial_cell.copy_(from_after)


def _vectors(tables: LayerTables) -> list[Optional[Tensor]]:
    parameters = tables.parameters
    weights = (parameters.left_weight, parameters.lower_weight, parameters.peephole_left)
    return [per_feature(x, tables.hidden) for x in weights]


if HAS_TRITON:

    @triton.jit
    def _tanh(x):
        return 2 * tl.sigmoid(2 * x) - 1

    @triton.jit(do_not_specialize=["N", "start", "left_start", "n"])
    def _forward_step(
        gates,
        hidden,
        cell,
        lower,
        left_weight,
        lower_weight,
        peephole_left,
        N,
        start,
        left_start,
        n,
        H: tl.constexpr,
        HAS_LOWER: tl.constexpr,
        HAS_PEEPHOLE: tl.constexpr,
        BLOCK: tl.constexpr,
    ):
        index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = index < n * H
        feature = index % H
        first = tl.program_id(1).to(tl.int64) * N
        row = first + start + index // H
        at = row * H + feature
        left_at = (first + left_start + index // H) * H + feature
        gate = gates + row * ((5 if HAS_LOWER else 4) * H) + feature
        weight_at = tl.program_id(1) * H + feature

        i = tl.sigmoid(tl.load(gate, inside))
        f = tl.sigmoid(tl.load(gate + H, inside))
        g = _tanh(tl.load(gate + 2 * H, inside))
        o = tl.sigmoid(tl.load(gate + 3 * H, inside))
        left = tl.load(cell + left_at, inside & (start > 0), 0)
        c = i * g + tl.load(left_weight + weight_at, inside) * f * left
        if HAS_LOWER:
            v = tl.load(gate + 4 * H, inside)
            if HAS_PEEPHOLE:
                v += tl.load(peephole_left + weight_at, inside) * left
            v = tl.sigmoid(v)
            c += tl.load(lower_weight + weight_at, inside) * v * tl.load(lower + at, inside)
            tl.store(gate + 4 * H, v, inside)
        tl.store(gate, i, inside)
        tl.store(gate + H, f, inside)
        tl.store(gate + 2 * H, g, inside)
        tl.store(gate + 3 * H, o, inside)
        tl.store(cell + at, c, inside)
        tl.store(hidden + at, o * _tanh(c), inside)

    @triton.jit(do_not_specialize=["N", "start", "left_start", "n", "num_sentences"])
    def _backward_step(
        gates,
        cell,
        lower,
        left_weight,
        lower_weight,
        peephole_left,
        grad_hidden,
        grad_cell,
        from_after,
        grad_lower,
        by_left_weight,
        N,
        start,
        left_start,
        n,
        num_sentences,
        H: tl.constexpr,
        HAS_LOWER: tl.constexpr,
        HAS_PEEPHOLE: tl.constexpr,
        HAS_GRAD_CELL: tl.constexpr,
        HAS_GRAD_LOWER: tl.constexpr,
        HAS_GRAD_LEFT_WEIGHT: tl.constexpr,
        BLOCK: tl.constexpr,
    ):
        index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = index < n * H
        feature = index % H
        first = tl.program_id(1).to(tl.int64) * N
        row = first + start + index // H
        at = row * H + feature
        left_at = (first + left_start + index // H) * H + feature
        gate = gates + row * ((5 if HAS_LOWER else 4) * H) + feature
        weight_at = tl.program_id(1) * H + feature
        carried = from_after + tl.program_id(1).to(tl.int64) * num_sentences * H + index

        i = tl.load(gate, inside)
        f = tl.load(gate + H, inside)
        g = tl.load(gate + 2 * H, inside)
        o = tl.load(gate + 3 * H, inside)
        left = tl.load(cell + left_at, inside & (start > 0), 0)
        dh = tl.load(grad_hidden + at, inside)
        tanh_c = _tanh(tl.load(cell + at, inside))
        dc = tl.load(carried, inside) + dh * o * (1 - tanh_c * tanh_c)
        if HAS_GRAD_CELL:
            dc += tl.load(grad_cell + at, inside)
        by_left_cell = tl.load(left_weight + weight_at, inside) * f
        if HAS_GRAD_LEFT_WEIGHT:
            tl.store(by_left_weight + at, dc * f * left, inside)
        tl.store(gate, dc * g * i * (1 - i), inside)
        tl.store(gate + H, dc * by_left_cell * left * (1 - f), inside)
        tl.store(gate + 2 * H, dc * i * (1 - g * g), inside)
        tl.store(gate + 3 * H, dh * tanh_c * o * (1 - o), inside)
        to_before = dc * by_left_cell
        if HAS_LOWER:
            v = tl.load(gate + 4 * H, inside)
            by_lower = tl.load(lower_weight + weight_at, inside) * v
            dv = dc * by_lower * tl.load(lower + at, inside) * (1 - v)
            tl.store(gate + 4 * H, dv, inside)
            if HAS_GRAD_LOWER:
                tl.store(grad_lower + at, dc * by_lower, inside)
            if HAS_PEEPHOLE:
                to_before += dv * tl.load(peephole_left + weight_at, inside)
        tl.store(carried, to_before, inside)
