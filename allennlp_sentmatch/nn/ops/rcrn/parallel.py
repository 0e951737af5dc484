"""The recurrence of RCRN over all tokens at once, in a number of rounds that grows with log T.

On a GPU, a step is too little work for the launch of an operation. A recurrence
c_t = a_t * c_{t-1} + b_t composed with itself one step earlier is one that skips a step,

    c_t = a_t * a_{t-1} * c_{t-2} + a_t * b_{t-1} + b_t,

and so on, until it skips all steps (Hillis and Steele, "Data parallel algorithms", 1986). The
gradients run through the same kind of recurrence from the last token to the first: with g_t the
gradient of c_t from outside and d_t the whole gradient,

    d_t = g_t + f_{t+1} * d_{t+1}
    df_t = d_t * (c_{t-1} - x_t),   dx_t = (1 - f_t) * d_t
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward


def controlled_recurrence(forget: Tensor, values: Tensor) -> Tensor:
    """Compute the function of the same name in `naive`."""
    cells: Tensor = _ControlledRecurrence.apply(forget, values)  # type: ignore[no-untyped-call]
    return cells


class _ControlledRecurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, forget: Tensor, values: Tensor) -> Tensor:
        cells = _recurrence(forget, (1 - forget) * values)
        ctx.save_for_backward(forget, values, cells)
        return cells

    @staticmethod
    @analytic_backward
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        forget, values, cells = ctx.saved_tensors
        grad = _recurrence(_earlier(forget.flip(1), 1), grad.flip(1)).flip(1)  # d
        return grad * (_earlier(cells, 1) - values), (1 - forget) * grad


def _recurrence(factors: Tensor, terms: Tensor) -> Tensor:
    """c_t = a_t * c_{t-1} + b_t, of a and b (B, T, E)."""
    skipped = 1
    while skipped < factors.size(1):
        terms = torch.addcmul(terms, factors, _earlier(terms, skipped))
        factors = factors * _earlier(factors, skipped)
        skipped *= 2
    return terms


def _earlier(sequence: Tensor, steps: int) -> Tensor:
    """The values some steps before, (B, T, E); zero before the first."""
    steps = min(steps, sequence.size(1))
    return F.pad(sequence, (0, 0, steps, -steps))
