"""Matrix products and affine maps, through oneDNN where torch would take a slower library.

`torch.nn.LSTM` computes in oneDNN on the CPU, `torch.mm` in MKL, which on processors other than
Intel's leaves half of their speed unused (measured: 110 against 240 GFLOP/s on one core of an AMD
EPYC with AVX-512). torch has oneDNN's product as an operator for its compiler; it is used here for
float32 on the CPU where this torch has it, and `torch.backends.mkldnn.flags(enabled=False)`
switches it off. Only `linear` is differentiable: the rest is for `autograd.Function`s.
"""

from collections.abc import Sequence
from typing import Any, Optional, Union

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward

_LINEAR = (
    "mkldnn::_linear_pointwise(Tensor X, Tensor W, Tensor? B, str attr, Scalar?[] scalars, "
    "str? algorithm) -> Tensor Y"
)
_REORDER = "mkldnn::_reorder_linear_weight(Tensor self, int? batch_size=None) -> Tensor Y"


def _find_operator(schema: str) -> Optional[Any]:
    """The operator of exactly this schema, if oneDNN is at hand and this torch has it."""
    name = schema[len("mkldnn::") : schema.index("(")]
    try:
        operator = getattr(torch.ops.mkldnn, name).default
    except (AttributeError, RuntimeError):  # torch 1.12 raises the latter
        return None
    found = torch.backends.mkldnn.is_available() and str(operator._schema) == schema
    return operator if found else None


_onednn_linear = _find_operator(_LINEAR)
_onednn_reorder = _find_operator(_REORDER)


def _takes_onednn(x: torch.Tensor) -> bool:
    return (
        _onednn_linear is not None
        and x.device.type == "cpu"
        and x.dtype == torch.float32
        and x.numel() > 0
        and getattr(torch.backends.mkldnn, "enabled", True)
    )


def reordered(weight: torch.Tensor) -> torch.Tensor:
    """`weight` as `product` reads it fastest; worth its copy for a few products on.

    What comes back may be opaque: only `product` can read it.
    """
    if _onednn_reorder is not None and _takes_onednn(weight):
        result: torch.Tensor = _onednn_reorder(weight)
        return result
    return weight


def product(
    x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor] = None
) -> torch.Tensor:
    """X W^T + b: (N, K), (M, K), (M) -> (N, M)."""
    if weight.is_mkldnn or _takes_onednn(x):
        result: torch.Tensor = _onednn_linear(x, weight, bias, "none", [], "")  # type: ignore[misc]
        return result
    return torch.nn.functional.linear(x, weight, bias)


def product_over_rows(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """X^T Y, a sum over rows: (N, K), (N, M) -> (K, M)."""
    return product(x.t(), y.t())


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
    @analytic_backward
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
