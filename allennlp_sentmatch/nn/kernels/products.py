"""Matrix products of the recurrent steps, through oneDNN where torch would take a slower library.

`torch.nn.LSTM` computes in oneDNN on the CPU, `torch.mm` in MKL, which on processors other than
Intel's leaves half of their speed unused (measured: 110 against 240 GFLOP/s on one core of an AMD
EPYC with AVX-512). torch has oneDNN's product as an operator for its compiler; it is used here for
float32 on the CPU where this torch has it, and `torch.backends.mkldnn.flags(enabled=False)`
switches it off. None of this is differentiable: it is for the inside of `autograd.Function`s.
"""

from typing import Any, Optional

import torch

_SCHEMA = (
    "mkldnn::_linear_pointwise(Tensor X, Tensor W, Tensor? B, str attr, Scalar?[] scalars, "
    "str? algorithm) -> Tensor Y"
)


def _find_onednn_linear() -> Optional[Any]:
    """X W^T + B as one operator, if this torch has it with these very arguments."""
    try:
        operator = torch.ops.mkldnn._linear_pointwise.default
    except (AttributeError, RuntimeError):  # torch 1.12 raises the latter
        return None
    return operator if str(operator._schema) == _SCHEMA else None


_onednn_linear = _find_onednn_linear() if torch.backends.mkldnn.is_available() else None


def _takes_onednn(x: torch.Tensor) -> bool:
    return (
        _onednn_linear is not None
        and x.device.type == "cpu"
        and x.dtype == torch.float32
        and x.numel() > 0
        and getattr(torch.backends.mkldnn, "enabled", True)
    )


def product(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """X W^T: (N, K), (M, K) -> (N, M)."""
    if _takes_onednn(x):
        result: torch.Tensor = _onednn_linear(x, weight, None, "none", [], "")  # type: ignore[misc]
        return result
    return torch.mm(x, weight.t())


def product_over_rows(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """X^T Y, a sum over rows: (N, K), (N, M) -> (K, M)."""
    return product(x.t(), y.t())
