r"""The recurrence of RCRN and its gradient in Triton, each one launch for all steps.

A program holds c, or the gradient of c, for some of the features of all sentences in registers and
goes through the steps.
"""

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl
except ImportError:  # AllenNLP imports all of a package's modules, whether there is Triton or not
    HAS_TRITON = False
else:
    HAS_TRITON = True

BLOCK = 128


def forward(forget: Tensor, values: Tensor) -> Tensor:
    """c, from f and x: all of shape (T, ...)."""
    forget, values = forget.contiguous(), values.contiguous()
    cells = torch.empty_like(values)
    T, size = len(values), values[:1].numel()
    with torch.cuda.device_of(values):
        _forward[_grid(size)](forget, values, cells, T, size, BLOCK=BLOCK)
    return cells


def backward(forget: Tensor, values: Tensor, cells: Tensor, grad: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of f and x, from those and c and the gradient of c from outside."""
    tensors = [x.contiguous() for x in (forget, values, cells, grad)]
    grad_forget, grad_values = (torch.empty_like(x) for x in tensors[:2])
    T, size = len(values), values[:1].numel()
    with torch.cuda.device_of(values):
        _backward[_grid(size)](*tensors, grad_forget, grad_values, T, size, BLOCK=BLOCK)
    return grad_forget, grad_values


def _grid(size: int) -> tuple[int]:
    return (max(1, triton.cdiv(size, BLOCK)),)  # a grid of nothing cannot be launched


if HAS_TRITON:

    @triton.jit(do_not_specialize=["T", "size"])
    def _forward(forget, values, cells, T, size, BLOCK: tl.constexpr):
        index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside = index < size
        c = tl.zeros([BLOCK], cells.dtype.element_ty)
        for _ in range(T):
            f = tl.load(forget + index, inside)
            x = tl.load(values + index, inside)
            c = f * c + (1 - f) * x
            tl.store(cells + index, c, inside)
            index += size

    @triton.jit(do_not_specialize=["T", "size"])
    def _backward(
        forget, values, cells, grad, grad_forget, grad_values, T, size, BLOCK: tl.constexpr
    ):
        column = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside = column < size
        index = column + (T - 1).to(tl.int64) * size
        d = tl.zeros([BLOCK], cells.dtype.element_ty)  # the gradient that comes from the step after
        for _ in range(T):
            f = tl.load(forget + index, inside)
            x = tl.load(values + index, inside)
            d += tl.load(grad + index, inside)
            left = tl.load(cells + index - size, inside & (index >= size), 0)
            tl.store(grad_forget + index, d * (left - x), inside)
            tl.store(grad_values + index, d * (1 - f), inside)
            d *= f
            index -= size
