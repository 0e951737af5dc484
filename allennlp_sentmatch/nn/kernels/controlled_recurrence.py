r"""The recurrence of RCRN, c_t = f_t * c_{t-1} + (1 - f_t) * x_t, with an analytic backward pass.

The gradients run through the same kind of recurrence from the last step to the first. With g_t the
gradient of c_t from outside and d_t the whole of it,

    d_t = g_t + f_{t+1} * d_{t+1}
    df_t = d_t * (c_{t-1} - x_t),   dx_t = (1 - f_t) * d_t

A step is one operation, too little work for a GPU's launch: there all steps are one launch.
"""

from typing import Any

import torch

from allennlp_sentmatch.nn.kernels.kernel_backward import kernel_backward
from allennlp_sentmatch.nn.kernels.triton_support import takes_triton


def controlled_recurrence(forget: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """As the function of the same name in `allennlp_sentmatch.nn.recurrently_controlled_rnn`."""
    # Step-major: that is how torch's recurrent networks leave their outputs in memory.
    cells: torch.Tensor = _ControlledRecurrence.apply(  # type: ignore[no-untyped-call]
        forget.transpose(0, 1), values.transpose(0, 1)
    )
    return cells.transpose(0, 1)


class _ControlledRecurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, forget: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        if takes_triton(values):
            from allennlp_sentmatch.nn.kernels import controlled_recurrence_triton

            cells = controlled_recurrence_triton.read(forget, values)
        else:
            cells = linear_recurrence(forget[1:], values - forget * values)
        ctx.save_for_backward(forget, values, cells)
        return cells

    @staticmethod
    @kernel_backward
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        forget, values, cells = ctx.saved_tensors
        if takes_triton(values):
            from allennlp_sentmatch.nn.kernels import controlled_recurrence_triton

            return controlled_recurrence_triton.read_back(forget, values, cells, grad)
        grad_cells = linear_recurrence(forget[1:].flip(0), grad.flip(0)).flip(0)
        grad_forget = -grad_cells * values
        grad_forget[1:].addcmul_(grad_cells[1:], cells[:-1])
        return grad_forget, torch.addcmul(grad_cells, grad_cells, forget, value=-1)


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
