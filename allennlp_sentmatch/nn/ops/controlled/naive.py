"""The recurrence of RCRN (Tay et al., 2018, eq. 15), token by token."""

import torch
from torch import Tensor


def controlled_recurrence(forget: Tensor, values: Tensor) -> Tensor:
    """c_t = f_t * c_{t-1} + (1 - f_t) * x_t from left to right, of f and x (B, T, E)."""
    c = torch.zeros_like(values[:, :1])  # (B, 1, E), or without steps
    cells = [c[:, :0]]
    for f, x in zip(forget.split(1, 1), values.split(1, 1)):
        c = f * c + (1 - f) * x
        cells.append(c)
    return torch.cat(cells, 1)
