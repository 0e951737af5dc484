r"""The steps of a layer compiled for CPUs: the element-wise part of a step is one pass over memory.

`BoundForward` and `BoundBackward` bind the tables of a layer, checked once, to the C++; then a step
is a call with a few numbers.
"""

from itertools import accumulate

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import COMPILED, Backend
from allennlp_sentmatch.nn.ops.common.native_tables import address, precision_and_threads
from allennlp_sentmatch.nn.ops.gru.tables import GRUTables

if COMPILED:
    from allennlp_sentmatch.nn.ops.native import _gru_steps


def forward(backend: Backend, tables: GRUTables) -> None:
    """Run the steps: fill `candidate` and `hidden`, and replace the gates' arguments by gates."""
    sizes, hidden, bias = tables.sizes, tables.hidden, tables.bias_hh
    bound = BoundForward(tables)
    starts = [0, *accumulate(sizes)]
    for s, weight in enumerate(map(backend.products.prepacked, tables.weight_hh)):
        for t, n in enumerate(sizes):
            if t == 0:  # after the state zero
                recurrent, left = bias[s].repeat(n, 1), -1
            else:
                left = starts[t - 1]
                recurrent = backend.products.linear(hidden[s, left : left + n], weight, bias[s])
            bound.run(s, starts[t], left, n, recurrent)


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
    sizes = tables.sizes
    by_state = torch.empty_like(tables.gates)
    # The gradients of the states from the step after.
    carried = tables.hidden.new_zeros(
        len(tables.hidden), sizes[0] if sizes else 0, tables.hidden.size(2)
    )
    bound = BoundBackward(tables, by_state, grad_hidden, carried)
    starts = [0, *accumulate(sizes)]
    for s, weight in enumerate(tables.weight_hh):
        for t in range(len(sizes) - 1, -1, -1):
            n, start = sizes[t], starts[t]
            bound.run(s, start, starts[t - 1] if t > 0 else -1, n)
            if t > 0:
                after = backend.products.linear(by_state[s, start : start + n], weight.t())
                carried[s, :n].add_(after)
    return by_state


class BoundForward:
    """The forward steps of a layer over bound tables.

    # Raises

    `ValueError`
        If a table has the wrong shape, precision or device, or is not contiguous.
    """

    def __init__(self, tables: GRUTables) -> None:
        self._tables = tables  # to which the C++ has no references
        self._bound = _gru_steps.bind_forward(*_addresses(tables))

    def run(self, s: int, start: int, left_start: int, n: int, recurrent: Tensor) -> None:
        """Run a step of direction `s`.

        # Parameters

        start, n : `int`
            The step's rows.
        left_start : `int`
            The first row of the states on their left; -1 where they are zero.
        recurrent : `Tensor`
            Shape (n, 3H): U h + c.
        """
        hidden = self._tables.hidden
        u = address(recurrent, (n, 3 * hidden.size(2)), hidden)
        _gru_steps.run(self._bound, s, start, left_start, n, u)


class BoundBackward:
    """The backward steps of a layer over bound tables.

    # Parameters

    tables : `GRUTables`
    by_state : `Tensor`
        Shape (S, N, 3H): to be filled with the gradients of U h + c.
    grad_hidden : `Tensor`
        Shape (S, N, H).
    carried : `Tensor`
        Shape (S, num_sentences, H): the gradients of the states from the step after, which a step
        replaces by those for the step before, without what passes through U h.

    # Raises

    `ValueError`
        If a table has the wrong shape, precision or device, or is not contiguous.
    """

    def __init__(
        self, tables: GRUTables, by_state: Tensor, grad_hidden: Tensor, carried: Tensor
    ) -> None:
        hidden = tables.hidden
        S, N, H = tuple(hidden.shape)
        self._tables = [*tables, by_state, grad_hidden, carried]
        self._bound = _gru_steps.bind_backward(
            *_addresses(tables),
            carried.size(1),
            address(by_state, (S, N, 3 * H), hidden),
            address(grad_hidden, (S, N, H), hidden),
            address(carried, (S, carried.size(1), H), hidden),
        )

    def run(self, s: int, start: int, left_start: int, n: int) -> None:
        """Run a step of direction `s` backward, with the arguments of the forward step."""
        _gru_steps.run(self._bound, s, start, left_start, n)


def _addresses(tables: GRUTables) -> list[int]:
    """The first arguments of both `bind` functions."""
    hidden = tables.hidden
    shape = S, N, H = tuple(hidden.shape)
    return [
        *precision_and_threads(hidden),
        S,
        N,
        H,
        address(tables.gates, (S, N, 3 * H), hidden),
        address(tables.candidate, shape, hidden),
        address(hidden, shape, hidden),
    ]
