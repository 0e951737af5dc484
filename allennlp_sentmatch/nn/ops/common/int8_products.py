"""Products of numbers in 7 bits with matrices in 8 bits, by oneDNN.

A row of a matrix is integers of at most 127 times a scale, as in an exported file of 8 bits. The
other factor is integers of at most 63. Their products are sums of integers, which are exact on
every processor and in every order, so that a row of the result does not depend on other rows. (In
8 bits, processors with AVX2 but without VNNI would clip sums of two products to 16 bits.)
"""

from typing import Any

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.products import find_operator

LEVELS = 63
"""The largest 7-bit integer."""

LARGEST = 127
"""The largest integer in a matrix."""

_prepack: Any = find_operator("onednn::qlinear_prepack(Tensor weight, int[]? x_shape) -> Tensor")
_linear: Any = find_operator(
    "onednn::qlinear_pointwise(Tensor qx, float x_scale, int x_zero_point, Tensor qw, "
    "Tensor w_scale, Tensor w_zero_point, Tensor? bias, float output_scale, "
    "int output_zero_point, ScalarType? output_dtype, str post_op_name, "
    "Scalar?[] post_op_args, str post_op_algorithm) -> Tensor"
)

HAS_INT8 = _prepack is not None and _linear is not None
"""Whether this torch has the operators that its compiler uses for quantized models."""


class Int8Matrix:
    """A matrix W (N, K) with rows rounded to 8 bits, in oneDNN's fastest layout.

    It needs the operators that `HAS_INT8` says torch has. A row is integers of at most `LARGEST`
    times a scale of its own; a row of zeros stays zero.
    """

    def __init__(self, weight: Tensor) -> None:
        weight = weight.detach().float()
        self._scales = weight.abs().amax(1).clamp(min=1e-30) / LARGEST  # (N,)
        integers = (weight / self._scales[:, None]).round().to(torch.int8)
        self._packed = _prepack(integers, None)
        self._zeros = torch.zeros(len(weight), dtype=torch.int32, device="cpu")

    def product(self, levels: Tensor) -> Tensor:
        """Return W x in float32 for integers of at most `LEVELS` as float32: (B, K) -> (B, N)."""
        shifted = (levels + (LEVELS + 1)).to(torch.uint8)
        result: Tensor = _linear(
            shifted,
            1.0,
            LEVELS + 1,
            self._packed,
            self._scales,
            self._zeros,
            None,
            1.0,
            0,
            torch.float32,
            "none",
            [],
            "",
        )
        return result

    def product_of_fractions(self, x: Tensor) -> Tensor:
        """Return W x for numbers from -1 to 1, rounded to 7 bits: (B, K) -> (B, N)."""
        return self.product((x * LEVELS).round_()).mul_(1 / LEVELS)

    def product_of_rows(self, x: Tensor) -> Tensor:
        """Return W x for rows of any size, each rounded to 7 bits separately: (B, K) -> (B, N)."""
        scales = _scales(x)  # (B, 1)
        return self.product((x / scales).round_()).mul_(scales)

    def fine_product_of_rows(self, x: Tensor) -> Tensor:
        """Return W x for rows of any size, each rounded to 14 bits: (B, K) -> (B, N).

        It takes two products: of the rows in 7 bits, and of what their rounding leaves.
        """
        scales = _scales(x)
        steps = x / scales
        coarse = steps.round()
        fine = ((steps - coarse) * (2 * LEVELS)).round_()
        return (self.product(coarse) + self.product(fine) / (2 * LEVELS)).mul_(scales)


def _scales(x: Tensor) -> Tensor:
    """Return the steps of the rows (B, K), in which the largest number is `LEVELS`: (B, 1)."""
    return x.abs().amax(1, keepdim=True).clamp(min=1e-30) / LEVELS
