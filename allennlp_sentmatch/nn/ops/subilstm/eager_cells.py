"""The cells of SuBiLSTM as operations of torch, in place."""

from collections.abc import Sequence
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.activations import (
    sigmoid_backward,
    sigmoid_to_tanh,
    tanh_backward,
)
from allennlp_sentmatch.nn.ops.subilstm.cells import Cell
from allennlp_sentmatch.nn.ops.subilstm.schedule import Step


class _EagerCell(Cell):
    """A cell whose steps are operations of torch, in place.

    A step is three parts: `_begin`, a product that adds U h to the gates, and `_finish`.
    """

    def _prepare(self, weights: Sequence[Tensor]) -> None:
        if weights:
            self._weights = self._backend.products.side_by_side(weights)

    def advance(self, step: Step) -> None:
        if not step.suffixes:
            return
        states = step.of_states(self.states)
        x = step.of_tokens(self._projected)
        kept: Optional[Tensor] = None
        if self._tables is None:
            old = states
            gates = x.new_empty(*states.shape[1:4], x.size(-1))
        else:
            old, gates, kept = self._tables.at(step)
            old.copy_(states)
        self._begin(x, gates)
        if not step.begins:
            rows = gates.flatten(1, 2)  # a view
            old_hidden = old[0].flatten(1, 2)  # (S, rows, H)
            self._backend.products.add_products(rows, old_hidden, self._weights)
        self._finish(x, gates, states, kept)

    def _begin(self, x: Tensor, gates: Tensor) -> None:
        """Fill the gates (S, R, N, GH) with the values to which U h is added.

        `x` is W x + b, of the same shape, or (S, 1, N, GH) if the suffixes share the token.
        """
        raise NotImplementedError

    def _finish(
        self,
        x: Tensor,
        gates: Tensor,
        states: Tensor,
        kept: Optional[Tensor],
    ) -> None:
        """Compute the gates and the new states (num_states, S, R, N, H), in place.

        Write the value that `retreat` needs to `kept` (S, R, N, H), if there is such a table.
        """
        raise NotImplementedError


class EagerLSTMCell(_EagerCell):
    """c' = f * c + i * g and h' = o * tanh(c').

    The states are h and c, and the blocks i, f, g, o. It keeps tanh(c').
    """

    num_gates = 4
    num_states = 2

    def _prepare(self, weights: Sequence[Tensor]) -> None:
        H = self.states.size(-1)
        self._scale = self.states.new_ones(4 * H)
        self._scale[2 * H : 3 * H] = 2  # for `sigmoid_to_tanh`
        super()._prepare([weight * self._scale.unsqueeze(1) for weight in weights])

    def _begin(self, x: Tensor, gates: Tensor) -> None:
        torch.mul(x.expand_as(gates), self._scale, out=gates)

    def _finish(
        self,
        x: Tensor,
        gates: Tensor,
        states: Tensor,
        kept: Optional[Tensor],
    ) -> None:
        hidden, cell = states
        i, f, g, o = gates.sigmoid_().chunk(4, -1)
        sigmoid_to_tanh(g)
        cell.mul_(f).addcmul_(i, g)
        tanh_cell = self._backend.tanh(cell, out=kept)
        torch.mul(o, tanh_cell, out=hidden)

    def retreat(self, step: Step) -> None:
        grad_hidden, grad_cell = step.of_states(self.states)
        (_, old_cell), gates, tanh_cell = self._tables.at(step)
        i, f, g, o = gates.chunk(4, -1)
        out = step.of_table(self._grad_gates)
        out_i, out_f, out_g, out_o = out.chunk(4, -1)
        sigmoid_backward(tanh_cell, o, out_o)
        out_o.mul_(grad_hidden)
        grad_cell.addcmul_(grad_hidden, tanh_backward(o, tanh_cell))
        sigmoid_backward(g, i, out_i)
        sigmoid_backward(old_cell, f, out_f)
        tanh_backward(i, g, out_g)
        of_cell = out[..., : 3 * o.size(-1)]  # i, f and g
        by_gate = of_cell.unflatten(-1, (3, -1))
        by_gate.mul_(grad_cell.unsqueeze(-2))
        grad_cell.mul_(f)
        grad_hidden.zero_()


class EagerGRUCell(_EagerCell):
    """n = tanh(x_n + r * u_n) and h' = (1 - z) * n + z * h.

    The state is h, and the blocks r, z, n. It keeps n, and the gates have u_n in its block.
    """

    num_gates = 3
    num_states = 1

    def _begin(self, x: Tensor, gates: Tensor) -> None:
        gates.zero_()

    def _finish(
        self,
        x: Tensor,
        gates: Tensor,
        states: Tensor,
        kept: Optional[Tensor],
    ) -> None:
        (hidden,) = states
        H = hidden.size(-1)
        x_gates, x_n = x.split([2 * H, H], -1)
        gates[..., : 2 * H].add_(x_gates).sigmoid_()
        r, z, u_n = gates.chunk(3, -1)
        n = torch.addcmul(x_n, r, u_n, out=kept)
        n = self._backend.tanh(n, out=n)
        torch.lerp(n, hidden, z, out=hidden)

    def retreat(self, step: Step) -> None:
        (grad_hidden,) = step.of_states(self.states)
        (old_hidden,), gates, n = self._tables.at(step)
        r, z, u_n = gates.chunk(3, -1)
        out = step.of_table(self._grad_gates)
        out_r, out_z, out_n = out.chunk(3, -1)
        grad_z = grad_hidden * (old_hidden - n)
        grad_n = grad_hidden - grad_hidden * z
        sigmoid_backward(grad_z, z, out_z)
        tanh_backward(grad_n, n, out_n)
        sigmoid_backward(out_n * u_n, r, out_r)
        grad_hidden *= z

    @staticmethod
    def to_gradient_of_product(grad_gates: Tensor, gates: Tensor) -> None:
        r, _, _ = gates.chunk(3, -1)
        _, _, grad_n = grad_gates.chunk(3, -1)
        grad_n.mul_(r)
