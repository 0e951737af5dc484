"""The steps of a layer compiled for CPUs, each a product and one pass over memory."""

from itertools import accumulate

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.gated_steps import GatedStep
from allennlp_sentmatch.nn.ops.common.native import Rows, address, check_sizes
from allennlp_sentmatch.nn.ops.gru.tables import GRUTables


def forward(backend: Backend, tables: GRUTables) -> None:
    """Run the steps: fill `candidate` and `hidden`, and replace the gates' arguments by gates."""
    sizes, hidden, bias = tables.sizes, tables.hidden, tables.bias_hh
    layer = _NativeLayer(tables)
    step = layer.step
    step.recurrent_width = 3 * hidden.size(2)
    starts = [0, *accumulate(sizes)]
    for s, weight in enumerate(map(backend.products.prepacked, tables.weight_hh)):
        for t, n in enumerate(sizes):
            if t == 0:  # after the state zero
                recurrent = bias[s].repeat(n, 1)
            else:
                left = hidden[s, starts[t - 1] : starts[t - 1] + n]
                recurrent = backend.products.linear(left, weight, bias[s])
            step.recurrent = address(recurrent, (n, 3 * hidden.size(2)), hidden)
            layer.run("gru_forward", s, t)


def backward(backend: Backend, tables: GRUTables, grad_hidden: Tensor) -> Tensor:
    """Run the steps backward.

    # Parameters

    backend : `Backend`
    tables : `GRUTables`
        The gates become the gradients of W x + b.
    grad_hidden : `Tensor`
        Shape (S, N, H): the gradients of the states from outside.

    # Returns

    `Tensor`
        Shape (S, N, 3H): the gradients of U h + c.
    """
    sizes, hidden = tables.sizes, tables.hidden
    by_state = torch.empty_like(tables.gates)
    # The gradients of the states from the step after.
    shape = (len(hidden), sizes[0] if sizes else 0, hidden.size(2))
    carried = hidden.new_zeros(shape)
    carried_rows = Rows.of(carried, shape, hidden)
    layer = _NativeLayer(tables, grad_gates=tables.gates, grad_recurrent=by_state)
    layer.add(grad_hidden=grad_hidden)
    starts = [0, *accumulate(sizes)]
    for s, weight in enumerate(tables.weight_hh):
        layer.step.carried = carried_rows.at(s)
        for t in range(len(sizes) - 1, -1, -1):
            layer.run("gru_backward", s, t)
            if t > 0:
                rows = slice(starts[t], starts[t] + sizes[t])
                after = backend.products.linear(by_state[s, rows], weight.t())
                carried[s, : sizes[t]].add_(after)
    return by_state


class _NativeLayer:
    """The compiled steps of a layer over its tables.

    `step` has the arguments of the next one, of which `run` sets the rows.
    """

    def __init__(self, tables: GRUTables, **gates: Tensor) -> None:
        self._hidden = tables.hidden
        check_sizes(tables.sizes, self._hidden.size(1))
        self._starts, self._sizes = [0, *accumulate(tables.sizes)], tables.sizes
        self._zeros = self._hidden.new_zeros(3 * self._hidden.size(2))
        self._rows: dict[str, Rows] = {}
        self.add(x=tables.gates, gates=tables.gates, **gates)
        self.add(hidden=tables.hidden, kept=tables.candidate)
        self.step = GatedStep(self._hidden, H=self._hidden.size(2), zeros=self._zeros.data_ptr())

    def add(self, **tables: Tensor) -> None:
        """Add tables of the width of a state or of the gates, of the same names as in `step`."""
        S, N, H = self._hidden.shape
        for name, table in tables.items():
            width = 3 * H if name in ("x", "gates", "grad_gates", "grad_recurrent") else H
            self._rows[name] = Rows.of(table, (S, N, width), self._hidden)

    def run(self, function: str, s: int, t: int) -> None:
        """Run step `t` of direction `s`."""
        step, start = self.step, self._starts[t]
        step.n = step.block = self._sizes[t]
        step.point(self._rows, s, start)
        step.left = self._rows["hidden"].at(s, self._starts[t - 1]) if t > 0 else 0
        step.run(function)
