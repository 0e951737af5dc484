r"""The recurrence of RCRN (Tay et al., 2018, eq. 15), c_t = f_t * c_{t-1} + (1 - f_t) * x_t.

On a CPU it takes so little of RCRN's time that an analytic backward pass gains nothing. On a GPU, a
step is too little work for the launch of an operation. There, "parallel" runs over all tokens at
once, in a number of rounds that grows with log T: a recurrence c_t = a_t * c_{t-1} + b_t composed
with itself one step earlier is one that skips a step,

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

from allennlp_sentmatch.nn.ops.backends import Name, resolve
from allennlp_sentmatch.nn.ops.common.autograd import differentiable
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "parallel")


def controlled_recurrence(forget: Tensor, values: Tensor) -> Tensor:
    """Return c, from left to right, of f = `forget` and x = `values`; (B, T, E) each."""
    backend = resolve("RCRN", IMPLEMENTATIONS, forget, values)
    if backend.name == "parallel":
        cells: Tensor = differentiable(_forward, _backward, (), (forget, values))
        return cells

    def step(state: Tensors, at_step: Tensors) -> StepResult:
        (c,) = state
        f, x = at_step  # (B, E)
        c = f * c + (1 - f) * x
        return (c,), (c,)

    B, _, E = values.shape
    by_token = (forget.transpose(0, 1), values.transpose(0, 1))
    _, (cells,) = scan(step, (values.new_zeros(B, E),), by_token)
    return cells.transpose(0, 1)


def _forward(arguments: tuple[Tensor, Tensor], keep: bool) -> tuple[Tensor, Tensor]:
    """Return c twice: as the output, and for the backward pass."""
    forget, values = arguments
    new = (1 - forget) * values
    cells = _all_at_once(forget, new)
    return cells, cells


def _backward(
    arguments: tuple[Tensor, Tensor],
    cells: Tensor,
    gradients: tuple[Tensor],
    needed: Any,
) -> tuple[Tensor, Tensor]:
    """Return the gradients of f and x, from the gradient of c; the module's docstring has them."""
    forget, values = arguments
    # From the last token to the first: f_{t+1}, g_t and d_t.
    later_forget = _earlier(forget.flip(1), 1)
    from_outside = gradients[0].flip(1)
    grad = _all_at_once(later_forget, from_outside).flip(1)
    previous = _earlier(cells, 1)
    return grad * (previous - values), (1 - forget) * grad


def _all_at_once(factors: Tensor, terms: Tensor) -> Tensor:
    """Return c with c_t = a_t * c_{t-1} + b_t and c_0 = 0, all (B, T, E).

    `factors` are a, and `terms` are b. A round doubles the number of steps that are skipped.
    """
    skipped = 1
    while skipped < factors.size(1):
        earlier_terms = _earlier(terms, skipped)
        earlier_factors = _earlier(factors, skipped)
        terms = torch.addcmul(terms, factors, earlier_terms)
        factors = factors * earlier_factors
        skipped *= 2
    return terms


def _earlier(sequence: Tensor, steps: int) -> Tensor:
    """Return the values some steps before, (B, T, E); zero before the first."""
    steps = min(steps, sequence.size(1))
    return F.pad(sequence, (0, 0, steps, -steps))
