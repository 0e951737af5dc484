r"""A step of an LSTM or a GRU for many suffixes, and its gradient, as operations of torch.

In each of S directions, R suffixes of N sentences advance by a token. W x + b is x, (S, R, N, GH),
or (S, 1, N, GH) if all suffixes have the same token; U h is u, (R * N, GH) for each direction.
States, and their gradients in the backward pass, are (S, R, N, H) each and are overwritten.
"""

from collections.abc import Iterable, Sequence
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.activations import (
    MINUS_ONE,
    sigmoid_backward,
    tanh_backward,
)
from allennlp_sentmatch.nn.ops.subilstm.tables import SuffixTables


class LSTMCell:
    """c' = f * c + i * g and h' = o * tanh(c'); states h, c; blocks i, f, g, o."""

    num_gates = 4
    num_states = 2
    num_kept = 2  # c and tanh(c')
    #: The number of rows that advance together; all rows of a step if `None`.
    max_rows: Optional[int] = None

    @staticmethod
    def forward(
        backend: Backend,
        x: Tensor,
        u: Optional[Iterable[Tensor]],
        states: Sequence[Tensor],
        gates: Tensor,
        kept: Sequence[Tensor],
    ) -> None:
        """Advance the states.

        # Parameters

        backend : `Backend`
        x : `Tensor`
            W x + b.
        u : `Optional[Iterable[Tensor]]`
            U h for each direction; `None` if it is zero.
        states : `Sequence[Tensor]`
            Overwritten by the new states.
        gates : `Tensor`
            Shape (S, R, N, GH), a buffer for the gates, which `backward` needs.
        kept : `Sequence[Tensor]`
            Buffers for the other values that `backward` needs, (S, R, N, H) each; empty if there
            will be no backward pass.
        """
        hidden, cell = states
        old_cell, tanh_cell = kept or (None, None)
        if u is None:
            gates.copy_(x)
        else:
            for gates_s, x_s, u_s in zip(gates, x, u):
                torch.add(u_s.view_as(gates_s), x_s, out=gates_s)
        i, f, g, o = gates.chunk(4, -1)
        g.mul_(2)
        gates.sigmoid_()
        torch.add(MINUS_ONE, g, alpha=2, out=g)  # tanh(x) = 2 sigmoid(2x) - 1
        if old_cell is not None:
            old_cell.copy_(cell)
        cell.mul_(f).addcmul_(i, g)
        torch.mul(o, backend.tanh(cell, out=tanh_cell), out=hidden)

    @staticmethod
    def backward(grads: Sequence[Tensor], tables: SuffixTables, out: Tensor) -> None:
        """Turn the gradients of h', c' into those of h, c, except for the part through U h.

        # Parameters

        grads : `Sequence[Tensor]`
            Overwritten by the new gradients.
        tables : `SuffixTables`
            Those of the step.
        out : `Tensor`
            Shape (S, R, N, GH), a buffer for the gradient of x before the sum over suffixes.
        """
        grad_hidden, grad_cell = grads
        old_cell, tanh_cell = tables.kept
        i, f, g, o = tables.gates.chunk(4, -1)
        out_i, out_f, out_g, out_o = out.chunk(4, -1)
        sigmoid_backward(grad_hidden * tanh_cell, o, out_o)
        grad_cell += tanh_backward(grad_hidden * o, tanh_cell)
        sigmoid_backward(grad_cell * g, i, out_i)
        sigmoid_backward(grad_cell * old_cell, f, out_f)
        tanh_backward(grad_cell * i, g, out_g)
        grad_cell *= f
        grad_hidden.zero_()

    @staticmethod
    def to_gradient_of_product(out: Tensor, gates: Tensor) -> None:
        """Turn the gradient of x into that of u: they are equal."""


class GRUCell:
    """n = tanh(x_n + r * u_n) and h' = (1 - z) * n + z * h; state h; blocks r, z, n."""

    num_gates = 3
    num_states = 1
    num_kept = 1  # n; the gates hold u_n in its block
    max_rows: Optional[int] = None

    @staticmethod
    def forward(
        backend: Backend,
        x: Tensor,
        u: Optional[Iterable[Tensor]],
        states: Sequence[Tensor],
        gates: Tensor,
        kept: Sequence[Tensor],
    ) -> None:
        """Advance the states; the parameters are those of `LSTMCell.forward`."""
        (hidden,) = states
        (n,) = kept or (None,)
        H = hidden.size(-1)
        if u is None:
            gates.zero_()
        else:
            for gates_s, u_s in zip(gates, u):
                gates_s.copy_(u_s.view_as(gates_s))
        gates[..., : 2 * H].add_(x[..., : 2 * H]).sigmoid_()
        r, z, u_n = gates.chunk(3, -1)
        n = torch.addcmul(x[..., 2 * H :], r, u_n, out=n)
        backend.tanh(n, out=n)
        hidden.sub_(n).mul_(z).add_(n)

    @staticmethod
    def backward(grads: Sequence[Tensor], tables: SuffixTables, out: Tensor) -> None:
        """Turn gradients of h' into those of h; the parameters are those of `LSTMCell.backward`."""
        (grad_hidden,) = grads
        (n,) = tables.kept
        r, z, u_n = tables.gates.chunk(3, -1)
        out_r, out_z, out_n = out.chunk(3, -1)
        sigmoid_backward(grad_hidden * (tables.hidden - n), z, out_z)
        tanh_backward(grad_hidden - grad_hidden * z, n, out_n)
        sigmoid_backward(out_n * u_n, r, out_r)
        grad_hidden *= z

    @staticmethod
    def to_gradient_of_product(out: Tensor, gates: Tensor) -> None:
        """Turn the gradient of x into that of u, in place."""
        r, _, _ = gates.chunk(3, -1)
        _, _, out_n = out.chunk(3, -1)
        out_n *= r
