r"""The binary Tree-LSTM cell (Choi 2020, chapter 3; as in SPINN, Bowman et al. 2016).

[i; f_l; f_r; o; g] = [sigmoid x 4; tanh] (W_comp [h_l; h_r] + b_comp)      (3.1)
c_p = f_l * c_l + f_r * c_r + i * g                                         (3.2)
h_p = o * tanh(c_p)                                                         (3.3)
"""

import torch
from torch import Tensor


def tree_lstm_cell(pre_activations: Tensor, cells: Tensor) -> tuple[Tensor, Tensor]:
    """Compose the parents of pairs of nodes.

    # Parameters

    pre_activations : `Tensor`
        Shape (..., 5H): W_comp [h_l; h_r] + b_comp, blocks i, f_l, f_r, o, g.
    cells : `Tensor`
        Shape (..., 2, H): c_l and c_r.

    # Returns

    `tuple[Tensor, Tensor]`
        h_p and c_p, each (..., H).
    """
    H = cells.size(-1)
    gates, g = pre_activations.unflatten(-1, (5, H)).split([4, 1], -2)
    gates, o = gates.sigmoid().split([3, 1], -2)
    cell = (gates * torch.cat([g.tanh(), cells], -2)).sum(-2)  # of i, f_l, f_r and g, c_l, c_r
    return o.squeeze(-2) * cell.tanh(), cell
