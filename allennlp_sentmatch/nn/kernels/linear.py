"""Affine maps of many rows at once, differentiable, by `products`."""

from collections.abc import Sequence
from typing import Any, Optional, Union

import torch
from torch import Tensor

from allennlp_sentmatch.nn.kernels.kernel_backward import kernel_backward
from allennlp_sentmatch.nn.kernels.products import product, product_over_rows


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """W x + b for S maps side by side, each with its own rows.

    # Parameters

    x, weight, bias : `Tensor`
        Shapes (S, N, D), (S, K, D) and (S, K).

    # Returns

    `Tensor`
        Shape (S, N, K).
    """
    result: Tensor = _Linear.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return result


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return affine(x, weight, bias)

    @staticmethod
    @kernel_backward
    def backward(ctx: Any, grad: Tensor) -> tuple[Optional[Tensor], ...]:
        x, weight = ctx.saved_tensors
        needs_x, needs_weight, needs_bias = ctx.needs_input_grad
        return (
            input_gradient(weight, grad) if needs_x else None,
            weight_gradient(x, grad) if needs_weight else None,
            grad.sum(1) if needs_bias else None,
        )


def affine(x: Tensor, weight: Union[Tensor, Sequence[Tensor]], bias: Tensor) -> Tensor:
    """As `linear`, but not differentiable. The maps' `weight` need not be stacked."""
    return _stack([product(rows, w, b) for rows, w, b in zip(x, weight, bias)])


def input_gradient(weight: Union[Tensor, Sequence[Tensor]], grad: Tensor) -> Tensor:
    """The gradient of x (S, N, D) from that of W x (S, N, K)."""
    return _stack([product(g, w.t()) for g, w in zip(grad, weight)])


def weight_gradient(x: Tensor, grad: Tensor) -> Tensor:
    """The gradient of W (S, K, D) from that of W x (S, N, K)."""
    return _stack(weight_gradients(x, grad))


def weight_gradients(x: Tensor, grad: Tensor) -> list[Tensor]:
    """As `weight_gradient`, but one gradient (K, D) for each map."""
    return [product_over_rows(rows, g).t() for rows, g in zip(x, grad)]


def _stack(tensors: Sequence[Tensor]) -> Tensor:
    """`torch.stack`, without a copy where there is nothing to stack."""
    return tensors[0].unsqueeze(0) if len(tensors) == 1 else torch.stack(list(tensors))
