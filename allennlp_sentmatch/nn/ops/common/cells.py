"""One step of an LSTM and of a GRU, as operations that autograd differentiates."""

import torch
from torch import Tensor


def lstm_cell(pre_activations: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """The next h and c of an LSTM, (..., H) each.

    # Parameters

    pre_activations : `Tensor`
        Shape (..., 4H): W x + U h + b, blocks i, f, g, o.
    cell : `Tensor`
        Shape (..., H).
    """
    i, f, g, o = pre_activations.chunk(4, -1)
    cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(cell), cell


def gru_cell(x: Tensor, u: Tensor, hidden: Tensor) -> Tensor:
    """The next h of a GRU, (..., H), as `torch.nn.GRU` defines it.

    # Parameters

    x, u : `Tensor`
        Shape (..., 3H): the projections W x and U h with their biases, blocks r, z, n.
    hidden : `Tensor`
        Shape (..., H).
    """
    x_r, x_z, x_n = x.chunk(3, -1)
    u_r, u_z, u_n = u.chunk(3, -1)
    z = torch.sigmoid(x_z + u_z)
    n = torch.tanh(x_n + torch.sigmoid(x_r + u_r) * u_n)
    return (1 - z) * n + z * hidden
