"""A step of an LSTM or a GRU for many suffixes, and its gradient, as operations of torch.

In each of S directions, R suffixes of N sentences advance by a token: states are (S, R, N, H).
"""

from collections.abc import Sequence
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.activations import MINUS_ONE, sigmoid_backward, tanh_backward
from allennlp_sentmatch.nn.ops.subilstm.schedule import Step
from allennlp_sentmatch.nn.ops.subilstm.steps import Cell


class _EagerCell(Cell):
    #: The factors of the arguments of each gate.
    scales: tuple[float, ...]

    def _prepare(self, weights: Sequence[Tensor]) -> None:
        H = self.states.size(-1)
        self._scale = torch.cat([self.states.new_full((H,), x) for x in self.scales])  # (GH)
        scaled = [weight * self._scale.unsqueeze(1) for weight in weights]
        self._weights = self._backend.products.side_by_side(scaled) if scaled else None

    def advance(self, step: Step) -> None:
        if not step.suffixes:
            return
        old = states = step.of_states(self.states)
        x = step.of_tokens(self._projected)
        gates = x.new_empty(*states.shape[1:4], x.size(-1))
        kept = None
        if self._tables is not None:
            old, gates, kept = self._tables.at(step)
            old.copy_(states)
        self._begin(x, gates)
        if not step.begins:
            rows = gates.flatten(1, 2)  # a view
            self._backend.products.add_products(rows, old[0].flatten(1, 2), self._weights)
        self._finish(x, gates, states, kept)

    def _begin(self, x: Tensor, gates: Tensor) -> None:
        """Fill the gates (S, R, N, GH) with the values to which U h is added; x may be (S, 1, N,
        GH).
        """
        raise NotImplementedError

    def _finish(self, x: Tensor, gates: Tensor, states: Tensor, kept: Optional[Tensor]) -> None:
        """Compute the gates, the new states, and for `retreat` the values to keep."""
        raise NotImplementedError


class LSTMCell(_EagerCell):
    """c' = f * c + i * g and h' = o * tanh(c'); states h, c; blocks i, f, g, o; keeps tanh(c')."""

    num_gates = 4
    num_states = 2
    scales = (1.0, 1.0, 2.0, 1.0)  # tanh(x) = 2 sigmoid(2x) - 1

    def _begin(self, x: Tensor, gates: Tensor) -> None:
        torch.mul(x.expand_as(gates), self._scale, out=gates)

    def _finish(self, x: Tensor, gates: Tensor, states: Tensor, kept: Optional[Tensor]) -> None:
        hidden, cell = states
        i, f, g, o = gates.sigmoid_().chunk(4, -1)
        torch.add(MINUS_ONE, g, alpha=2, out=g)
        cell.mul_(f).addcmul_(i, g)
        torch.mul(o, self._backend.tanh(cell, out=kept), out=hidden)

    def retreat(self, step: Step) -> None:
        grad_hidden, grad_cell = step.of_states(self.states)
        (_, old_cell), gates, tanh_cell = self._tables.at(step)
        out = step.of_table(self._grad_gates)
        i, f, g, o = gates.chunk(4, -1)
        out_i, out_f, out_g, out_o = out.chunk(4, -1)
        sigmoid_backward(tanh_cell, o, out_o)
        out_o.mul_(grad_hidden)
        grad_cell.addcmul_(grad_hidden, tanh_backward(o, tanh_cell))
        sigmoid_backward(g, i, out_i)
        sigmoid_backward(old_cell, f, out_f)
        tanh_backward(i, g, out_g)
        out[..., : -o.size(-1)].unflatten(-1, (3, -1)).mul_(grad_cell.unsqueeze(-2))
        grad_cell.mul_(f)
        grad_hidden.zero_()


class GRUCell(_EagerCell):
    """n = tanh(x_n + r * u_n) and h' = (1 - z) * n + z * h; state h; blocks r, z, n.

    It keeps n, and the gates have u_n in its block.
    """

    num_gates = 3
    num_states = 1
    scales = (1.0, 1.0, 1.0)

    def _begin(self, x: Tensor, gates: Tensor) -> None:
        gates.zero_()

    def _finish(self, x: Tensor, gates: Tensor, states: Tensor, kept: Optional[Tensor]) -> None:
        (hidden,) = states
        H = hidden.size(-1)
        gates[..., : 2 * H].add_(x[..., : 2 * H]).sigmoid_()
        r, z, u_n = gates.chunk(3, -1)
        n = torch.addcmul(x[..., 2 * H :], r, u_n, out=kept)
        torch.lerp(self._backend.tanh(n, out=n), hidden, z, out=hidden)

    def retreat(self, step: Step) -> None:
        (grad_hidden,) = step.of_states(self.states)
        (old_hidden,), gates, n = self._tables.at(step)
        r, z, u_n = gates.chunk(3, -1)
        out_r, out_z, out_n = step.of_table(self._grad_gates).chunk(3, -1)
        sigmoid_backward(grad_hidden * (old_hidden - n), z, out_z)
        tanh_backward(grad_hidden - grad_hidden * z, n, out_n)
        sigmoid_backward(out_n * u_n, r, out_r)
        grad_hidden *= z

    @staticmethod
    def to_gradient_of_product(grad_gates: Tensor, gates: Tensor) -> None:
        grad_gates.chunk(3, -1)[2].mul_(gates.chunk(3, -1)[0])
