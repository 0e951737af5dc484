"""Matrices rounded to 8 or 4 bits, to be stored.

A row w of a matrix becomes the integers round(w / s) with the scale s = max|w| / 127, or 7 for 4
bits. Integers of 8 bits have the matrix' name. Two of 4 bits share a byte, the first of them in the
lower half, and have that name and ".int4". The scales of the rows have the matrix' name and
".scales"; they are float32, or float16 for 4 bits.
"""

from collections.abc import Collection, Mapping

import torch
from torch import Tensor

SCALES = ".scales"
INT4 = ".int4"

LARGEST_OF_8_BITS = 127
LARGEST_OF_4_BITS = 7


def rounded_rows(weight: Tensor, largest: int) -> tuple[Tensor, Tensor]:
    """Round each row of a matrix (N, D) to integers of at most `largest`.

    Return the integers (N, D), int8, and the scales (N,), float32.
    """
    weight = weight.float()
    scales = weight.abs().amax(1) / largest  # (N,)
    if largest == LARGEST_OF_4_BITS:
        scales = scales.half().float()
    divisors = scales[:, None]  # (N, 1)
    steps = weight / divisors
    steps = steps.masked_fill(divisors == 0, 0)  # rows of zeros, or nearly so
    integers = steps.round().clamp(-largest, largest)
    return integers.to(torch.int8), scales


def quantized(tensors: Mapping[str, Tensor], int4: Collection[str] = ()) -> dict[str, Tensor]:
    """Round all matrices among floating-point tensors; other tensors do not change.

    `int4` names the matrices to round to 4 bits: they have an even number of columns. Others are
    rounded to 8 bits.
    """
    rounded = {}
    for name, tensor in tensors.items():
        if name in int4:
            integers, scales = rounded_rows(tensor, LARGEST_OF_4_BITS)
            upper = integers[:, 1::2] * 16
            lower = integers[:, 0::2] & 15
            rounded[name + INT4] = upper | lower
            rounded[name + SCALES] = scales.half()
        elif tensor.dim() == 2:
            integers, scales = rounded_rows(tensor, LARGEST_OF_8_BITS)
            rounded[name] = integers
            rounded[name + SCALES] = scales
        else:
            rounded[name] = tensor
    return rounded


def dequantized(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Undo `quantized`, up to rounding, for the tensors of an untrusted file.

    Return float32 in place of integers. Raise `ValueError` for integers without a floating-point
    scale for each row, and for a matrix that is there both in 4 bits and in another form.
    """
    restored = dict(tensors)
    for name, tensor in tensors.items():
        if tensor.dtype != torch.int8:
            continue
        plain = name.removesuffix(INT4)
        scales = restored.pop(plain + SCALES, None)
        if tensor.dim() != 2 or scales is None or scales.shape != tensor.shape[:1]:
            raise ValueError(f"{name!r} has integers, but not a scale for each of its rows")
        if not scales.is_floating_point():
            raise ValueError(f"{plain + SCALES!r} has integers; scales are floating-point")
        scales = scales.float()[:, None]  # (N, 1)
        if name == plain:  # 8 bits
            restored[plain] = tensor.float() * scales
            continue
        del restored[name]
        if plain in restored:
            raise ValueError(f"{plain!r} is there twice")
        restored[plain] = _of_4_bits(tensor, scales)
    return restored


def _of_4_bits(pairs: Tensor, scales: Tensor) -> Tensor:
    """Return the numbers (N, D) of pairs of integers (N, D / 2) and scales (N, 1), float32.

    Each number is converted, multiplied and written once, since the words' vectors take most of a
    program's start.
    """
    numbers = torch.empty(*pairs.shape, 2, dtype=torch.float32, device=pairs.device)
    lower = ((pairs & 15) ^ 8) - 8
    upper = pairs >> 4
    torch.mul(lower, scales, out=numbers[:, :, 0])
    torch.mul(upper, scales, out=numbers[:, :, 1])
    return numbers.flatten(1)
