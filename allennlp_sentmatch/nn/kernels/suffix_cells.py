r"""One step of an LSTM or a GRU for many suffixes at a time, and its derivatives.

R suffixes of N sentences read one token. Of the token, x = W x + b is (N, GH), the same for all
suffixes; of the suffixes, u = U h is (R, N, GH). States, and the gradients that stand in for them
in the backward pass, are (R, N, H) each and are replaced in place.
"""

from collections.abc import Sequence
from typing import Optional, Union

import torch

from allennlp_sentmatch.nn.kernels.pointwise import sigmoid_backward, tanh, tanh_backward

Tensors = Sequence[torch.Tensor]


class LSTMCell:
    """c' = f * c + i * g and h' = o * tanh(c'); states h, c; blocks i, f, g, o."""

    num_gates = 4
    num_states = 2
    #: Of what `forward` keeps, the widths in multiples of H: the gates, c and tanh(c').
    kept_widths = (4, 1, 1)

    @staticmethod
    def forward(x: torch.Tensor, u: torch.Tensor, states: Tensors, kept: Optional[Tensors]) -> None:
        """Advances the states; what `backward` needs is written to `kept`, if there is any."""
        hidden, cell = states
        gates, old_cell, tanh_cell = kept or (u, None, None)
        torch.add(u, x, out=gates)
        i, f, g, o = gates.chunk(4, -1)
        gates[..., : 2 * i.size(-1)].sigmoid_()
        tanh(g, out=g)
        o.sigmoid_()
        if old_cell is not None:
            old_cell.copy_(cell)
        cell.mul_(f).addcmul_(i, g)
        tanh_cell = tanh(cell, out=tanh_cell)
        torch.mul(o, tanh_cell, out=hidden)

    @staticmethod
    def backward(
        grads: Tensors, old_hidden: torch.Tensor, kept: Tensors, out: torch.Tensor
    ) -> None:
        """Takes the gradients of h', c' to those of h, c, aside from what passes through U h.

        The gradient of x, before the sum over suffixes, is written to `out` (R, N, 4H).
        """
        grad_hidden, grad_cell = grads
        gates, old_cell, tanh_cell = kept
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
    def to_gradient_of_product(out: torch.Tensor, kept: Tensors) -> None:
        """Makes of the gradient of x that of u: they are the same."""


class GRUCell:
    """n = tanh(x_n + r * u_n) and h' = (1 - z) * n + z * h; state h; blocks r, z, n."""

    num_gates = 3
    num_states = 1
    #: r, z and u_n; n.
    kept_widths = (3, 1)

    @staticmethod
    def forward(x: torch.Tensor, u: torch.Tensor, states: Tensors, kept: Optional[Tensors]) -> None:
        """As `LSTMCell.forward`."""
        (hidden,) = states
        gates, n = kept or (u, None)
        if gates is not u:
            gates.copy_(u)
        H = hidden.size(-1)
        gates[..., : 2 * H].add_(x[..., : 2 * H]).sigmoid_()
        r, z, u_n = gates.chunk(3, -1)
        n = torch.addcmul(x[..., 2 * H :], r, u_n, out=n)
        tanh(n, out=n)
        hidden.sub_(n).mul_(z).add_(n)

    @staticmethod
    def backward(
        grads: Tensors, old_hidden: torch.Tensor, kept: Tensors, out: torch.Tensor
    ) -> None:
        """As `LSTMCell.backward`, with `out` (R, N, 3H)."""
        (grad_hidden,) = grads
        gates, n = kept
        r, z, u_n = gates.chunk(3, -1)
        out_r, out_z, out_n = out.chunk(3, -1)
        sigmoid_backward(grad_hidden * (old_hidden - n), z, out_z)
        tanh_backward(grad_hidden - grad_hidden * z, n, out_n)
        sigmoid_backward(out_n * u_n, r, out_r)
        grad_hidden *= z

    @staticmethod
    def to_gradient_of_product(out: torch.Tensor, kept: Tensors) -> None:
        """Makes of the gradient of x that of u, in its place."""
        H = kept[1].size(-1)
        out[..., 2 * H :] *= kept[0][..., :H]


Cell = Union[type[LSTMCell], type[GRUCell]]
CELLS: dict[str, Cell] = {"lstm": LSTMCell, "gru": GRUCell}
