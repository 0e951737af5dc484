"""One step of an LSTM and of a GRU, as operations that autograd differentiates."""

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.execution import has_values, is_on_gpu


def lstm_cell(
    x: Tensor,
    u: Tensor,
    cell: Tensor,
) -> tuple[Tensor, Tensor]:
    """Return the next h and c of an LSTM, (..., H) each, from c.

    `u` is U h, (..., 4H), with the blocks i, f, g, o. `x`, W x + b, is expanded to its shape.
    """
    if is_on_gpu(u) and has_values(u):
        return _fused_lstm_cell(x, u, cell)
    i, f, g, o = (x + u).chunk(4, -1)
    kept = torch.sigmoid(f) * cell
    new = torch.sigmoid(i) * torch.tanh(g)
    cell = kept + new
    hidden = torch.sigmoid(o) * torch.tanh(cell)
    return hidden, cell


def _fused_lstm_cell(
    x: Tensor,
    u: Tensor,
    cell: Tensor,
) -> tuple[Tensor, Tensor]:
    """Compute `lstm_cell` in one kernel of torch, which takes rows."""
    H = cell.size(-1)
    x_rows = x.expand_as(u).reshape(-1, 4 * H)
    u_rows = u.reshape(-1, 4 * H)
    cell_rows = cell.reshape(-1, H)
    hidden, new_cell, _ = torch.ops.aten._thnn_fused_lstm_cell(x_rows, u_rows, cell_rows)
    return hidden.view_as(cell), new_cell.view_as(cell)


def gru_cell(
    x: Tensor,
    u: Tensor,
    hidden: Tensor,
) -> Tensor:
    """Return the next h of a GRU, (..., H), as `torch.nn.GRU` defines it, from h.

    `x` and `u` are W x and U h with their biases, (..., 3H), with the blocks r, z, n.
    """
    H = hidden.size(-1)
    blocks = [2 * H, H]  # r and z, n
    x_gates, x_n = x.split(blocks, -1)
    u_gates, u_n = u.split(blocks, -1)
    gates = torch.sigmoid(x_gates + u_gates)
    r, z = gates.chunk(2, -1)
    argument = torch.addcmul(x_n, r, u_n)
    n = torch.tanh(argument)
    return torch.lerp(n, hidden, z)  # (1 - z) * n + z * h
