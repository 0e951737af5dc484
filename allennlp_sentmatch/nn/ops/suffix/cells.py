r"""One step of an LSTM or a GRU for many suffixes at a time, and its derivatives.

In each of S directions, R suffixes of N sentences read a token. W x + b is x, (S, R, N, GH), or
(S, 1, N, GH) where all suffixes read the same token; U h is u, (R * N, GH) of each direction.
States, and the gradients that stand in for them in the backward pass, are (S, R, N, H) each and
are replaced in place.
"""

from collections.abc import Sequence
from typing import Optional, Union

import torch

from allennlp_sentmatch.nn.ops.common.activations import (
    MINUS_ONE,
    sigmoid_backward,
    tanh,
    tanh_backward,
)

Tensors = Sequence[torch.Tensor]


class LSTMCell:
    """c' = f * c + i * g and h' = o * tanh(c'); states h, c; blocks i, f, g, o."""

    num_gates = 4
    num_states = 2
    num_kept = 2  # c and tanh(c')

    @staticmethod
    def forward(
        x: torch.Tensor,
        u: Optional[Tensors],
        states: Tensors,
        gates: torch.Tensor,
        kept: Tensors,
    ) -> None:
        """Advances the states.

        # Parameters

        x, u : `torch.Tensor`, `Optional[Sequence[torch.Tensor]]`
            As above; no `u` for zero.
        states : `Sequence[torch.Tensor]`
            Replaced by the new ones.
        gates : `torch.Tensor`
            Shape (S, R, N, GH), room for the gates, which `backward` needs.
        kept : `Sequence[torch.Tensor]`
            Room for what else it needs, (S, R, N, H) each; empty if it will not be called.
        """
        hidden, cell = states
        old_cell, tanh_cell = kept or (None, None)
        if u is None:
            gates.copy_(x)
        else:
            for of_direction, x_s, u_s in zip(gates, x, u):
                torch.add(u_s.view_as(of_direction), x_s, out=of_direction)
        i, f, g, o = gates.chunk(4, -1)
        g.mul_(2)
        gates.sigmoid_()
        torch.add(MINUS_ONE, g, alpha=2, out=g)  # tanh(x) = 2 sigmoid(2x) - 1
        if old_cell is not None:
            old_cell.copy_(cell)
        cell.mul_(f).addcmul_(i, g)
        torch.mul(o, tanh(cell, out=tanh_cell), out=hidden)

    @staticmethod
    def backward(
        grads: Tensors,
        old_hidden: torch.Tensor,
        gates: torch.Tensor,
        kept: Tensors,
        out: torch.Tensor,
    ) -> None:
        """Takes the gradients of h', c' to those of h, c, aside from what passes through U h.

        The gradient of x, before the sum over suffixes, is written to `out` (S, R, N, 4H).
        """
        grad_hidden, grad_cell = grads
        old_cell, tanh_cell = kept
        i, f, g, o = gates.chunk(4, -1)
        out_i, out_f, out_g, out_o = out.chunk(4, -1)
        sigmoid_backward(grad_hidden * tanh_cell, o, out_o)
        grad_cell += tanh_backward(grad_hidden * o, tanh_cell)
        sigmoid_backward(grad_cell * g, i, out_i)
        sigmoid_backward(grad_cell * old_cell, f, out_f)
        tanh_backward(grad_cell * i, g, out_g)
        grad_cell *= f
        grad_hidden.zero_()

    @staticmethod
    def to_gradient_of_product(out: torch.Tensor, gates: torch.Tensor) -> None:
        """Makes of the gradient of x that of u: they are the same."""


class GRUCell:
    """n = tanh(x_n + r * u_n) and h' = (1 - z) * n + z * h; state h; blocks r, z, n."""

    num_gates = 3
    num_states = 1
    num_kept = 1  # n, as in place of n the gates have u_n

    @staticmethod
    def forward(
        x: torch.Tensor,
        u: Optional[Tensors],
        states: Tensors,
        gates: torch.Tensor,
        kept: Tensors,
    ) -> None:
        """As `LSTMCell.forward`."""
        (hidden,) = states
        (n,) = kept or (None,)
        H = hidden.size(-1)
        if u is None:
            gates.zero_()
        else:
            for of_direction, u_s in zip(gates, u):
                of_direction.copy_(u_s.view_as(of_direction))
        gates[..., : 2 * H].add_(x[..., : 2 * H]).sigmoid_()
        r, z, u_n = gates.chunk(3, -1)
        n = torch.addcmul(x[..., 2 * H :], r, u_n, out=n)
        tanh(n, out=n)
        hidden.sub_(n).mul_(z).add_(n)

    @staticmethod
    def backward(
        grads: Tensors,
        old_hidden: torch.Tensor,
        gates: torch.Tensor,
        kept: Tensors,
        out: torch.Tensor,
    ) -> None:
        """As `LSTMCell.backward`, with `out` (S, R, N, 3H)."""
        (grad_hidden,) = grads
        (n,) = kept
        r, z, u_n = gates.chunk(3, -1)
        out_r, out_z, out_n = out.chunk(3, -1)
        sigmoid_backward(grad_hidden * (old_hidden - n), z, out_z)
        tanh_backward(grad_hidden - grad_hidden * z, n, out_n)
        sigmoid_backward(out_n * u_n, r, out_r)
        grad_hidden *= z

    @staticmethod
    def to_gradient_of_product(out: torch.Tensor, gates: torch.Tensor) -> None:
        """Makes of the gradient of x that of u, in its place."""
        r, _, _ = gates.chunk(3, -1)
        _, _, out_n = out.chunk(3, -1)
        out_n *= r


Cell = Union[type[LSTMCell], type[GRUCell]]
CELLS: dict[str, Cell] = {"lstm": LSTMCell, "gru": GRUCell}
