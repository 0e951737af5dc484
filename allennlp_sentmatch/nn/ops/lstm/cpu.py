r"""The steps of a layer compiled for CPUs: the element-wise part of a step is one pass over memory.

`BoundForward` and `BoundBackward` bind the tables of a layer, checked once, to the C++; then a step
is a call with a few numbers.
"""

from itertools import accumulate
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import COMPILED, Backend
from allennlp_sentmatch.nn.ops.common import native_tables
from allennlp_sentmatch.nn.ops.common.activations import per_feature
from allennlp_sentmatch.nn.ops.common.native_tables import address, precision_and_threads
from allennlp_sentmatch.nn.ops.lstm.tables import LayerGradients, LayerTables

if COMPILED:
    from allennlp_sentmatch.nn.ops.native import _lstm_steps


def forward(backend: Backend, tables: LayerTables) -> None:
    """As `eager.forward`."""
    sizes, hidden = tables.sizes, tables.hidden
    bound = BoundForward(tables, tables.cell, recurrent_width=tables.weight_hh[0].size(0))
    starts = [0, *accumulate(sizes)]
    for s, weight in enumerate(map(backend.products.prepacked, tables.weight_hh)):
        if tables.first_step == 0:
            bound.run(s, 0, 0, sizes[0], None)
        for t in range(1, len(sizes)):
            left, n = starts[t - 1], sizes[t]
            recurrent = backend.products.linear(hidden[s, left : left + n], weight)  # (n, R)
            bound.run(s, starts[t], left, n, recurrent)


def backward(backend: Backend, tables: LayerTables, grads: LayerGradients) -> None:
    """As `eager.backward`."""
    sizes, gates = tables.sizes, tables.gates
    S, _, H = tables.hidden.shape
    R = tables.weight_hh[0].size(0)
    grads = grads._replace(
        hidden=grads.hidden.contiguous(),
        cell=None if grads.cell is None else grads.cell.contiguous(),
        lower=torch.empty_like(tables.lower)  # always written, if not needed
        if grads.lower is None and tables.lower is not None
        else grads.lower,
    )
    carried = gates.new_zeros(S, sizes[0], H)
    bound = BoundBackward(tables, tables.cell, grads, carried)
    starts = [0, *accumulate(sizes)]
    for s, weight in enumerate(tables.weight_hh):
        recurrent, num_after = None, 0
        for t in range(len(sizes) - 1, tables.first_step - 1, -1):
            n, start = sizes[t], starts[t]
            bound.run(s, start, starts[t - 1] if t > 0 else -1, n, num_after, recurrent)
            if t > tables.first_step:
                after = gates[s, start : start + n, :R]
                recurrent, num_after = backend.products.linear(after, weight.t()), n  # (n, H)
    if grads.left_weight is not None:
        grads.left_weight.add_(bound.grad_left_weight.sum(1, keepdim=True))
    if grads.initial_cell is not None:
        grads.initial_cell.copy_(carried)


class BoundForward:
    """The forward steps of a layer over bound tables.

    # Parameters

    tables : `LayerTables`
        `sizes` and `weight_hh` are not used.
    left_cell : `Tensor`
        Shape (S, N, H): the table in which a step finds c_{t-1}.
    recurrent_width : `int`
        The width of the rows of U h, of which a step takes the first 4H or 5H columns.

    # Raises

    `ValueError`
        If a table has the wrong shape, precision or device, or is not contiguous.
    """

    def __init__(self, tables: LayerTables, left_cell: Tensor, recurrent_width: int) -> None:
        # The C++ has no references to the tables.
        self._tables = [tables.gates, tables.hidden, tables.cell, left_cell, tables.lower]
        addresses, self._vectors = _addresses(tables, left_cell)
        self._like, self._width = tables.hidden, recurrent_width
        num_blocks = 4 if tables.lower is None or tables.peephole_left is not None else 5
        if recurrent_width < num_blocks * left_cell.size(-1):
            raise ValueError(f"U h of width {recurrent_width} is too narrow for {num_blocks} gates")
        self._bound = _lstm_steps.bind_forward(*addresses, recurrent_width)

    def run(self, s: int, start: int, left_start: int, n: int, recurrent: Optional[Tensor]) -> None:
        """Run a step of direction `s`.

        # Parameters

        start, n : `int`
            The step's rows.
        left_start : `int`
            The first row of the cells on their left.
        recurrent : `Optional[Tensor]`
            Shape (n, recurrent_width): U h; `None` where nothing is on the left.
        """
        u = address(recurrent, (n, self._width), self._like)
        _lstm_steps.run(self._bound, s, start, left_start, n, u)


class BoundBackward:
    """The backward steps of a layer over bound tables.

    # Parameters

    tables : `LayerTables`
        `sizes`, `weight_hh` and `hidden` are not used.
    left_cell : `Tensor`
        Shape (S, N, H): the table in which the forward pass found c_{t-1}.
    grads : `LayerGradients`
        With a buffer for `lower` if the layer has one. The attribute replaces `left_weight`.
    carried : `Tensor`
        The gradients of the cells from the step after, which a step replaces by those for the step
        before: of shape (S, N, H), a row for each token; or with a row for each sentence.

    # Attributes

    grad_left_weight : `Tensor`
        Shape (S, number of threads, H): the gradient of `left_weight` is the sum over threads.

    # Raises

    `ValueError`
        If a table has the wrong shape, precision or device, or is not contiguous.
    """

    def __init__(
        self, tables: LayerTables, left_cell: Tensor, grads: LayerGradients, carried: Tensor
    ) -> None:
        shape = S, _, H = tuple(tables.cell.shape)
        like = tables.cell
        addresses, self._vectors = _addresses(tables._replace(hidden=like), left_cell)
        if tables.lower is not None and grads.lower is None:
            raise ValueError("the gradient of the lower cells needs a buffer")
        self.grad_left_weight = like.new_zeros(S, native_tables.num_threads(), H)
        self._tables = [tables.gates, like, left_cell, tables.lower, *grads, carried]
        self._like, self._width = like, H
        self._bound = _lstm_steps.bind_backward(
            *addresses,
            carried.size(1),
            address(grads.hidden, shape, like),
            address(grads.cell, shape, like),
            address(carried, (S, carried.size(1), H), like),
            address(grads.lower, shape, like),
            self.grad_left_weight.data_ptr(),
        )

    def run(
        self,
        s: int,
        start: int,
        left_start: int,
        n: int,
        num_after: int,
        recurrent: Optional[Tensor],
    ) -> None:
        """Run a step of direction `s` backward.

        # Parameters

        start, n : `int`
            The step's rows.
        left_start : `int`
            The first row of the cells on their left; -1 where nothing is.
        num_after : `int`
            How many of the rows have a step after them.
        recurrent : `Optional[Tensor]`
            Shape (num_after, H): the gradients of their h from there; `None` for none.
        """
        from_after = address(recurrent, (num_after, self._width), self._like)
        _lstm_steps.run(self._bound, s, start, left_start, n, num_after, from_after)


def _addresses(tables: LayerTables, left_cell: Tensor) -> tuple[list[int], list[Optional[Tensor]]]:
    """The first arguments of both `bind` functions, and the vectors that have to be kept."""
    cell = tables.cell
    shape = S, N, H = tuple(cell.shape)
    weights = (tables.left_weight, tables.lower_weight, tables.peephole_left)
    vectors = [per_feature(x, cell) for x in weights]
    addresses = [
        *precision_and_threads(cell),
        S,
        N,
        H,
        address(tables.gates, (S, N, (4 if tables.lower is None else 5) * H), cell),
        address(tables.hidden, shape, cell),
        address(cell, shape, cell),
        address(left_cell, shape, cell),
        address(tables.lower, shape, cell),
        *(address(x, (S, 1, H), cell) for x in vectors),
    ]
    return addresses, vectors
