r"""The recurrence of RCRN, c_t = f_t * c_{t-1} + (1 - f_t) * x_t, with an analytic backward pass.

The gradients run through the same kind of recurrence from the last step to the first. With g_t the
gradient of c_t from outside and d_t the whole gradient,

    d_t = g_t + f_{t+1} * d_{t+1}
    df_t = d_t * (c_{t-1} - x_t),   dx_t = (1 - f_t) * d_t

A step is one operation, too little work for the launch of a GPU: there all steps are one launch.
"""

from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend, Name, resolve
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward
from allennlp_sentmatch.nn.ops.controlled import eager, gpu, naive

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "eager", "gpu")
STEPS: dict[str, ModuleType] = {"eager": eager, "gpu": gpu}


def controlled_recurrence(forget: Tensor, values: Tensor) -> Tensor:
    """Run the recurrence from left to right.

    # Parameters

    forget, values : `Tensor`
        f and x, of shape (B, T, E).

    # Returns

    `Tensor`
        c, of shape (B, T, E).
    """
    backend = resolve("RCRN", IMPLEMENTATIONS, forget, values)
    if backend.name in ("naive", "scan"):
        return naive.controlled_recurrence(forget, values)
    # Step-major: that is how torch's recurrent networks leave their outputs in memory.
    cells: Tensor = _ControlledRecurrence.apply(  # type: ignore[no-untyped-call]
        backend, forget.transpose(0, 1), values.transpose(0, 1)
    )
    return cells.transpose(0, 1)


class _ControlledRecurrence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, backend: Backend, forget: Tensor, values: Tensor) -> Tensor:
        cells: Tensor = STEPS[backend.name].forward(forget, values)
        ctx.save_for_backward(forget, values, cells)
        ctx.backend = backend
        return cells

    @staticmethod
    @analytic_backward
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, Tensor]:
        grad_forget, grad_values = STEPS[ctx.backend.name].backward(*ctx.saved_tensors, grad)
        return None, grad_forget, grad_values
