"""The steps of a layer compiled for CPUs, each a product and one pass over memory."""

from itertools import accumulate
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerGradients, LayerTables
from allennlp_sentmatch.nn.ops.common import native
from allennlp_sentmatch.nn.ops.common.activations import per_feature
from allennlp_sentmatch.nn.ops.common.gated_steps import GatedStep
from allennlp_sentmatch.nn.ops.common.native import Rows, address, check_sizes


def forward(backend: Backend, tables: LayerTables) -> None:
    """As `eager.forward`."""
    sizes, hidden = tables.sizes, tables.hidden
    layer = NativeLayer(tables, tables.cell)
    starts = [0, *accumulate(sizes)]
    for s, weight in enumerate(map(backend.products.prepacked, tables.weight_hh)):
        if tables.first_step == 0:
            layer.forward(s, 0, 0, sizes[0], None)
        for t in range(1, len(sizes)):
            left, n = starts[t - 1], sizes[t]
            recurrent = backend.products.linear(hidden[s, left : left + n], weight)  # (n, R)
            layer.forward(s, starts[t], left, n, recurrent)


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
    layer = NativeLayer(tables, tables.cell, grads, carried)
    starts = [0, *accumulate(sizes)]
    for s, weight in enumerate(tables.weight_hh):
        recurrent, num_after = None, 0
        for t in range(len(sizes) - 1, tables.first_step - 1, -1):
            n, start = sizes[t], starts[t]
            layer.backward(s, start, starts[t - 1] if t > 0 else None, n, num_after, recurrent)
            if t > tables.first_step:
                after = gates[s, start : start + n, :R]
                recurrent, num_after = backend.products.linear(after, weight.t()), n  # (n, H)
    if grads.left_weight is not None:
        grads.left_weight.add_(layer.grad_left_weight.sum(1, keepdim=True))
    if grads.initial_cell is not None:
        grads.initial_cell.copy_(carried)


class NativeLayer:
    """The compiled steps of a layer over its tables.

    # Parameters

    tables : `LayerTables`
        `weight_hh` is not used.
    left_cell : `Tensor`
        Shape (S, N, H): the table in which a step finds c_{t-1}.
    grads : `LayerGradients`, optional
        For the backward pass, with a buffer for `lower` if the layer has one. The attribute
        replaces `left_weight`.
    carried : `Tensor`, optional
        For the backward pass: the gradients of the cells from the step after, which a step replaces
        by those for the step before; of shape (S, N, H), a row for each token, or with a row for
        each sentence.

    # Attributes

    grad_left_weight : `Tensor`
        Shape (S, number of threads, H): the gradient of `left_weight` is the sum over threads.

    # Raises

    `ValueError`
        If a table has the wrong shape, precision or device, or is not contiguous.
    """

    def __init__(
        self,
        tables: LayerTables,
        left_cell: Tensor,
        grads: Optional[LayerGradients] = None,
        carried: Optional[Tensor] = None,
    ) -> None:
        like = self._like = tables.cell
        shape = S, N, H = (like.size(0), like.size(1), like.size(2))
        check_sizes(tables.sizes, N)
        width = (4 if tables.lower is None else 5) * H
        self._min_width = 4 * H if tables.peephole_left is not None else width
        weights = {
            "left_weight": tables.left_weight,
            "lower_weight": tables.lower_weight,
            "peephole": tables.peephole_left,
        }
        self._vectors = {
            name: Rows.of(per_feature(x, like), (S, 1, H), like) for name, x in weights.items()
        }
        self._left = Rows.of(left_cell, shape, like)
        self._rows = {
            "x": Rows.of(tables.gates, (S, N, width), like),
            "gates": Rows.of(tables.gates, (S, N, width), like),
            "lower": Rows.of(tables.lower, shape, like),
            "hidden": Rows.of(tables.hidden, shape, like),
            "cell": Rows.of(like, shape, like),
        }
        self._zeros = like.new_zeros(width)
        self._step = GatedStep(like, H=H, zeros=self._zeros.data_ptr())
        self._direction: Optional[int] = None  # of the last step
        if grads is None or carried is None:
            return
        if tables.lower is not None and grads.lower is None:
            raise ValueError("the gradient of the lower cells needs a buffer")
        self.grad_left_weight = like.new_zeros(S, native.num_threads(), H)
        self._vectors["grad_left_weight"] = Rows.of(
            self.grad_left_weight, (S, native.num_threads(), H), like
        )
        self._rows.update(
            grad_hidden=Rows.of(grads.hidden, shape, like),
            grad_cell=Rows.of(grads.cell, shape, like),
            grad_gates=self._rows["gates"],
            grad_lower=Rows.of(grads.lower, shape, like),
        )
        self._carried_per_token = carried.size(1) == N
        self._carried = Rows.of(
            carried, (S, N if self._carried_per_token else tables.sizes[0], H), like
        )

    def forward(
        self, s: int, start: int, left_start: int, n: int, recurrent: Optional[Tensor]
    ) -> None:
        """Run a step of direction `s`.

        # Parameters

        start, n : `int`
            The step's rows.
        left_start : `int`
            The first row of the cells on their left.
        recurrent : `Optional[Tensor]`
            Shape (n, R): U h, of which the first 4H or 5H columns are used; `None` where nothing is
            on the left.
        """
        step = self._set(s, start, n)
        if recurrent is not None:
            if recurrent.size(1) < self._min_width:
                raise ValueError(f"U h of width {recurrent.size(1)} has too few gates")
            step.recurrent_width = recurrent.size(1)
            step.recurrent = address(recurrent, (n, recurrent.size(1)), self._like)
        else:
            step.recurrent = 0
        step.left = 0 if recurrent is None else self._left.at(s, left_start)
        step.run("lstm_forward")

    def backward(
        self,
        s: int,
        start: int,
        left_start: Optional[int],
        n: int,
        num_after: int,
        recurrent: Optional[Tensor],
    ) -> None:
        """Run a step of direction `s` backward.

        # Parameters

        start, n : `int`
            The step's rows.
        left_start : `Optional[int]`
            The first row of the cells on their left; `None` where nothing is.
        num_after : `int`
            How many of the rows have a step after them.
        recurrent : `Optional[Tensor]`
            Shape (num_after, H): the gradients of their h from there; `None` for none.
        """
        step = self._set(s, start, n)
        step.num_after = num_after
        step.recurrent = address(recurrent, (num_after, self._like.size(2)), self._like)
        step.left = 0 if left_start is None else self._left.at(s, left_start)
        step.carried = self._carried.at(s, start if self._carried_per_token else 0)
        step.run("lstm_backward")

    def _set(self, s: int, start: int, n: int) -> GatedStep:
        step = self._step
        step.n = step.block = n
        if s != self._direction:
            self._direction = s
            step.point(self._vectors, s)
        step.point(self._rows, s, start)
        return step
