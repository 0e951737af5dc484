"""The recurrence of RCRN and its gradient as operations of torch, one for each step."""

import torch
from torch import Tensor


def forward(forget: Tensor, values: Tensor) -> Tensor:
    """c, from f and x: all of shape (T, ...)."""
    return linear_recurrence(forget[1:], values - forget * values)


def backward(forget: Tensor, values: Tensor, cells: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of f and x, from those and c and the gradient of c from outside."""
    grad_cells = linear_recurrence(forget[1:].flip(0), grad.flip(0)).flip(0)
    grad_forget = -grad_cells * values
    grad_forget[1:].addcmul_(grad_cells[1:], cells[:-1])
    return grad_forget, torch.addcmul(grad_cells, grad_cells, forget, value=-1)


def linear_recurrence(factors: Tensor, terms: Tensor) -> Tensor:
    """c_1 = b_1 and c_t = a_t * c_{t-1} + b_t.

    # Parameters

    factors : `Tensor`
        a_2 ... a_T, of shape (T - 1, ...).
    terms : `Tensor`
        b_1 ... b_T, of shape (T, ...).

    # Returns

    `Tensor`
        c_1 ... c_T, of shape (T, ...).
    """
    cells = terms.clone()
    for factor, before, after in zip(factors, cells[:-1], cells[1:]):
        after.addcmul_(factor, before)
    return cells
