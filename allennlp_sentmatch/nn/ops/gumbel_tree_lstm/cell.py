r"""The binary Tree-LSTM cell (Choi 2020, chapter 3; as in SPINN, Bowman et al. 2016).

[i; f_l; f_r; o; g] = [sigmoid x 4; tanh] (W_comp [h_l; h_r] + b_comp)      (3.1)
c_p = f_l * c_l + f_r * c_r + i * g                                         (3.2)
h_p = o * tanh(c_p)                                                         (3.3)
"""

from torch import Tensor


def tree_lstm_cell(
    pre_activations: Tensor, left_cell: Tensor, right_cell: Tensor
) -> tuple[Tensor, Tensor]:
    """Compose the parents of pairs of nodes.

    # Parameters

    pre_activations : `Tensor`
        Shape (..., 5H): W_comp [h_l; h_r] + b_comp, blocks i, f_l, f_r, o, g.
    left_cell, right_cell : `Tensor`
        Shape (..., H).

    # Returns

    `tuple[Tensor, Tensor]`
        h_p and c_p, each (..., H).
    """
    i, f_left, f_right, o, g = pre_activations.chunk(5, -1)
    cell = f_left.sigmoid() * left_cell + f_right.sigmoid() * right_cell + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell
