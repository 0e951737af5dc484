r"""The recurrence of RCRN, c_t = f_t * c_{t-1} + (1 - f_t) * x_t, with an analytic backward pass.

The gradients run through the same kind of recurrence from the last step to the first. With g_t the
gradient of c_t from outside and d_t the whole of it,

    d_t = g_t + f_{t+1} * d_{t+1}
    df_t = d_t * (c_{t-1} - x_t),   dx_t = (1 - f_t) * d_t

A step is one operation, too little work for a GPU's launch: there all steps are one launch.
"""

from typing import Any

import torch

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward
from allennlp_sentmatch.nn.ops.controlled import gpu


def controlled_recurrence(
    backend: Backend, forget: torch.Tensor, values: torch.Tensor
) -> torch.Tensor:
    """As the function of the same name in `allennlp_sentmatch.nn.recurrently_controlled_rnn`."""
    # Step-major: that is how torch's recurrent networks leave their outputs in memory.
    cells: torch.Tensor = _ControlledRecurrence.apply(  # type: ignore[no-untyped-call]
        backend, forget.transpose(0, 1), values.transpose(0, 1)
    )
    return cells.transpose(0, 1)


class _ControlledRecurrence(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, backend: Backend, forget: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        ctx.backend = backend
        if backend.name == "gpu":
            cells = gpu.read(forget, values)
        else:
            cells = linear_recurrence(forget[1:], values - forget * values)
        ctx.save_for_backward(forget, values, cells)
        return cells

    @staticmethod
    @analytic_backward
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[None, torch.Tensor, torch.Tensor]:
        forget, values, cells = ctx.saved_tensors
        if ctx.backend.name == "gpu":
            return (None, *gpu.read_back(forget, values, cells, grad))
        grad_cells = linear_recurrence(forget[1:].flip(0), grad.flip(0)).flip(0)
        grad_forget = -grad_cells * values
        grad_forget[1:].addcmul_(grad_cells[1:], cells[:-1])
        return None, grad_forget, torch.addcmul(grad_cells, grad_cells, forget, value=-1)


def linear_recurrence(factors: torch.Tensor, terms: torch.Tensor) -> torch.Tensor:
    """c_1 = b_1 and c_t = a_t * c_{t-1} + b_t.

    # Parameters

    factors : `torch.Tensor`
        a_2 ... a_T, of shape (T - 1, ...).
    terms : `torch.Tensor`
        b_1 ... b_T, of shape (T, ...).

    # Returns

    `torch.Tensor`
        c_1 ... c_T, of shape (T, ...).
    """
    cells = terms.clone()
    for factor, before, after in zip(factors, cells[:-1], cells[1:]):
        after.addcmul_(factor, before)
    return cells
