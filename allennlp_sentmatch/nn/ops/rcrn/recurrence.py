r"""The recurrence of RCRN, c_t = f_t * c_{t-1} + (1 - f_t) * x_t.

On a CPU it takes so little of RCRN's time that an analytic backward pass gains nothing. On a GPU, a
step is too little work for the launch of an operation: "gpu" computes all steps in one launch.
There the gradients run through the same kind of recurrence from the last step to the first. With
g_t the gradient of c_t from outside and d_t the whole gradient,

    d_t = g_t + f_{t+1} * d_{t+1}
    df_t = d_t * (c_{t-1} - x_t),   dx_t = (1 - f_t) * d_t
"""

from typing import Any

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Name, resolve
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward
from allennlp_sentmatch.nn.ops.rcrn import gpu, naive

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "gpu")


def controlled_recurrence(forget: Tensor, values: Tensor) -> Tensor:
    """Run the recurrence from left to right.

    # Parameters

    forget, values : `Tensor`
        f and x, of shape (B, T, E).

    # Returns

    `Tensor`
        c, of shape (B, T, E).
    """
    name = resolve("RCRN", IMPLEMENTATIONS, forget, values).name
    if name in ("naive", "scan"):
        return naive.controlled_recurrence(forget, values)
    # Step-major: that is how torch's recurrent networks leave their outputs in memory.
    cells: Tensor = _ControlledRecurrence.apply(  # type: ignore[no-untyped-call]
        forget.transpose(0, 1), values.transpose(0, 1)
    )
    return cells.transpose(0, 1)


class _ControlledRecurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, forget: Tensor, values: Tensor) -> Tensor:
        cells: Tensor = gpu.forward(forget, values)
        ctx.save_for_backward(forget, values, cells)
        return cells

    @staticmethod
    @analytic_backward
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        forget, values, cells = ctx.saved_tensors
        return gpu.backward(forget, values, cells, grad)
