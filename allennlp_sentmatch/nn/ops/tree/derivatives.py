"""The derivatives of the Tree-LSTM cell (`cell.py`), for R parents."""

from typing import NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.activations import sigmoid_backward, tanh_backward


class Derivatives(NamedTuple):
    """The states of parents, and their derivatives by pre-activations and the children's cells."""

    state: Tensor  # (R, 2H), [h; c] itself
    cell_by_hidden: Tensor  # (R, H), the factor from the gradient of h to that of c
    gates: Tensor  # (R, 5, H), by i, f_l, f_r, o and g: of h for o, of c for the others
    left: Tensor  # (R, H), f_l
    right: Tensor  # (R, H), f_r

    @classmethod
    def of(
        cls, backend: Backend, pre_activations: Tensor, left_cell: Tensor, right_cell: Tensor
    ) -> "Derivatives":
        """Compute the derivatives; the parameters are those of `tree_lstm_cell`."""
        blocks = pre_activations.view(len(left_cell), 5, -1)  # (R, 5, H)
        sigmoids = blocks[:, :4].sigmoid()
        i, f_left, f_right, o = sigmoids.unbind(1)
        g = backend.tanh(blocks[:, 4])
        cell = torch.addcmul(f_left * left_cell, f_right, right_cell).addcmul_(i, g)
        tanh_cell = backend.tanh(cell)
        gates = torch.empty_like(blocks)
        factors = torch.stack([g, left_cell, right_cell, tanh_cell], 1)  # (R, 4, H)
        sigmoid_backward(factors, sigmoids, gates[:, :4])
        tanh_backward(i, g, gates[:, 4])
        state = torch.cat([o * tanh_cell, cell], 1)
        return cls(state, tanh_backward(o, tanh_cell), gates, f_left, f_right)

    def every(self, step: int, first: int) -> "Derivatives":
        """Select one of every `step` parents, from number `first` on."""
        return Derivatives(*(part[first::step] for part in self))

    def gradients(self, hidden: Tensor, cell: Optional[Tensor] = None) -> tuple[Tensor, Tensor]:
        """Return the gradients of pre-activations (R, 5H) and c (R, H) from those of h and c."""
        cell = hidden * self.cell_by_hidden + (0 if cell is None else cell)  # (R, H)
        pre_activations = self.gates * cell.unsqueeze(1)
        pre_activations[:, 3] = self.gates[:, 3] * hidden
        return pre_activations.flatten(1), cell

    def children_gradients(self, hidden: Tensor, cell: Tensor) -> Tensor:
        """Return the gradients of the children's [h; c], (R, 2, 2H).

        `hidden` (R, 2H) are those of both children's h, and `cell` (R, H) those of the parents' c.
        """
        left, right = hidden.chunk(2, 1)
        children = torch.cat([left, cell * self.left, right, cell * self.right], 1)
        return children.view(len(cell), 2, -1)
