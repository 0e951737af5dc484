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
    H = hidden.size(-1)
    (x_gates, x_n), (u_gates, u_n) = x.split([2 * H, H], -1), u.split([2 * H, H], -1)
    r, z = torch.sigmoid(x_gates + u_gates).chunk(2, -1)
    n = torch.tanh(torch.addcmul(x_n, r, u_n))
    return torch.lerp(n, hidden, z)  # (1 - z) * n + z * h
