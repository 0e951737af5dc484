"""Matrix products of the recurrent steps, through oneDNN where torch would take a slower library.

`torch.nn.LSTM` computes in oneDNN on the CPU, `torch.mm` in MKL, which on processors other than
Intel's leaves half of their speed unused (measured: 110 against 240 GFLOP/s on one core of an AMD
EPYC with AVX-512). torch has oneDNN's product as an operator for its compiler; it is used here for
float32 on the CPU where this torch has it, and `torch.backends.mkldnn.flags(enabled=False)`
switches it off. None of this is differentiable: it is for the inside of `autograd.Function`s.
"""

from typing import Any, Optional

import torch

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
