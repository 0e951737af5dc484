"""Matrix products and affine maps, by the fastest library for a processor.

`torch.mm` computes in MKL, `torch.nn.LSTM` in oneDNN, whose product torch has as an operator for
its compiler. On processors other than Intel's, MKL uses half of their speed (measured: 110 against
240 GFLOP/s on one core of an AMD EPYC with AVX-512). On Intel's processors, it is faster in the
steps of a recurrence, if W^T is contiguous: for 32 rows and W of 1,200 x 300 it takes 144
microseconds against oneDNN's 177, for W of 300 x 75 11 against 28 (one core of a Xeon with AMX).
Only oneDNN rounds the factors of products to bfloat16. Autograd does not differentiate the methods.
"""

import platform
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Optional, Union

import torch
from torch import Tensor


def find_operator(schema: str) -> Optional[Any]:
    """Return the operator with exactly this schema, if this torch has it, and oneDNN.

    Otherwise return `None`. The schema is compared as text: another version of the operator, with
    other arguments, is not called.
    """
    library, name = schema[: schema.index("(")].split("::")
    try:
        operator = getattr(getattr(torch.ops, library), name).default
    except (AttributeError, RuntimeError):  # torch 1.12 raises the latter
        return None
    found = torch.backends.mkldnn.is_available() and str(operator._schema) == schema
    return operator if found else None


_onednn_linear = find_operator(
    "mkldnn::_linear_pointwise(Tensor X, Tensor W, Tensor? B, str attr, Scalar?[] scalars, "
    "str? algorithm) -> Tensor Y"
)
_onednn_reorder = find_operator(
    "mkldnn::_reorder_linear_weight(Tensor self, int? batch_size=None) -> Tensor Y"
)

#: Whether this torch has oneDNN's product as an operator.
HAS_ONEDNN = _onednn_linear is not None


@cache
def is_intel() -> bool:
    """Return whether the processor is Intel's."""
    try:
        return "GenuineIntel" in Path("/proc/cpuinfo").read_text()
    except OSError:  # this is not Linux
        return "GenuineIntel" in platform.processor()


class Products:
    """Products by torch, in any precision and on any device.

    S maps are the directions of a layer. A weight W (M, K) maps K numbers to M.
    """

    @staticmethod
    def prepacked(weight: Tensor) -> Tensor:
        """Return `weight` in the fastest layout for `linear`; the copy pays off after a few
        products.

        The result may be opaque, so that only `linear` can use it.
        """
        return weight

    @staticmethod
    def linear(
        x: Tensor,
        weight: Tensor,
        bias: Optional[Tensor] = None,
    ) -> Tensor:
        """Return X W^T + b: (N, K), (M, K), (M) -> (N, M)."""
        return torch.nn.functional.linear(x, weight, bias)

    @classmethod
    def side_by_side(cls, weights: Sequence[Tensor]) -> Any:
        """Return S weights (M, K) in the fastest layout for `add_products`; see `prepacked`."""
        return torch.stack([weight.t() for weight in weights])

    @classmethod
    def add_products(
        cls,
        out: Tensor,
        x: Tensor,
        weights: Any,
    ) -> None:
        """Add X W^T to `out` (S, N, M) for S maps at once.

        `x` is (S, N, K), and `weights` is the result of `side_by_side`.
        """
        out.baddbmm_(x, weights)

    @classmethod
    def product_over_rows(cls, x: Tensor, y: Tensor) -> Tensor:
        """Return X^T Y, a sum over rows: (N, K), (N, M) -> (K, M)."""
        return cls.linear(x.t(), y.t())

    @classmethod
    def affine(
        cls,
        x: Tensor,
        weight: Union[Tensor, Sequence[Tensor]],
        bias: Tensor,
    ) -> Tensor:
        """Return W x + b for S maps: (S, N, D), S times (K, D), (S, K) -> (S, N, K)."""
        return stack([cls.linear(rows, w, b) for rows, w, b in zip(x, weight, bias)])

    @classmethod
    def input_gradient(cls, weight: Union[Tensor, Sequence[Tensor]], grad: Tensor) -> Tensor:
        """Return the gradient of x (S, N, D) from the gradient of W x (S, N, K)."""
        return stack([cls.linear(g, w.t()) for g, w in zip(grad, weight)])

    @classmethod
    def weight_gradients(cls, x: Tensor, grad: Tensor) -> list[Tensor]:
        """Return the gradient of each map's W (K, D) from the gradient of W x (S, N, K)."""
        return [cls.product_over_rows(rows, g).t() for rows, g in zip(x, grad)]


class _CPUProducts(Products):
    """Products of float32 on the CPU, one for each map.

    Subclasses say how a weight is packed and multiplied.
    """

    @classmethod
    def side_by_side(cls, weights: Sequence[Tensor]) -> Any:
        return [cls.prepacked(weight) for weight in weights]

    @classmethod
    def add_products(
        cls,
        out: Tensor,
        x: Tensor,
        weights: Any,
    ) -> None:
        for out_s, x_s, weight in zip(out, x, weights):
            out_s.add_(cls.linear(x_s, weight))


class MKLProducts(_CPUProducts):
    """Products by MKL, in float32; W^T is contiguous."""

    @staticmethod
    def prepacked(weight: Tensor) -> Tensor:
        # `weight`, stored by columns.
        return weight.t().contiguous().t()


class OneDNNProducts(_CPUProducts):
    """Products by oneDNN, in float32; a packed weight is opaque."""

    @staticmethod
    def prepacked(weight: Tensor) -> Tensor:
        if _onednn_reorder is None:
            return weight
        result: Tensor = _onednn_reorder(weight)
        return result

    @staticmethod
    def linear(
        x: Tensor,
        weight: Tensor,
        bias: Optional[Tensor] = None,
    ) -> Tensor:
        if x.numel() == 0 and not weight.is_mkldnn:  # oneDNN refuses products without rows
            return Products.linear(x, weight, bias)
        if bias is not None:
            bias = bias.contiguous()  # oneDNN ignores the strides
        result: Tensor = _onednn_linear(x, weight, bias, "none", [], "")  # type: ignore[misc]
        return result


def fastest_products() -> type[Products]:
    """Return the fastest float32 products on this processor, with torch's current settings.

    MKL is the fastest on Intel's processors, unless `torch.set_float32_matmul_precision` allows
    products to be rounded, which only oneDNN does. Without its operators, torch decides.
    """
    is_exact = torch.get_float32_matmul_precision() == "highest"
    if is_exact and torch.backends.mkl.is_available() and is_intel():
        return MKLProducts
    is_enabled = getattr(torch.backends.mkldnn, "enabled", True)
    return OneDNNProducts if HAS_ONEDNN and is_enabled else Products


def stack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack tensors as `torch.stack` does, without copying a single one."""
    return tensors[0].unsqueeze(0) if len(tensors) == 1 else torch.stack(list(tensors))
