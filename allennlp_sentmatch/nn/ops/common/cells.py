"""One step of an LSTM and of a GRU, as operations that autograd differentiates."""

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.execution import has_values, is_on_gpu


def lstm_cell(x: Tensor, u: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Return the next h and c of an LSTM, (..., H) each, from c.

    `u` is U h, (..., 4H), with the blocks i, f, g, o; the shape of `x`, W x + b, expands to it.
    """
    if is_on_gpu(u) and has_values(u):
        H = cell.size(-1)  # torch's kernel takes rows
        rows = [x.expand_as(u).reshape(-1, 4 * H), u.reshape(-1, 4 * H), cell.reshape(-1, H)]
        hidden, new_cell, _ = torch.ops.aten._thnn_fused_lstm_cell(*rows)
        return hidden.view_as(cell), new_cell.view_as(cell)
    i, f, g, o = (x + u).chunk(4, -1)
    cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(cell), cell


def gru_cell(x: Tensor, u: Tensor, hidden: Tensor) -> Tensor:
    """Return the next h of a GRU, (..., H), as `torch.nn.GRU` defines it, from h.

    `x` and `u` are W x and U h with their biases, (..., 3H), with the blocks r, z, n.
    """
    H = hidden.size(-1)
    x_gates, x_n = x.split([2 * H, H], -1)
    u_gates, u_n = u.split([2 * H, H], -1)
    r, z = torch.sigmoid(x_gates + u_gates).chunk(2, -1)
    n = torch.tanh(torch.addcmul(x_n, r, u_n))
    return torch.lerp(n, hidden, z)  # (1 - z) * n + z * h
