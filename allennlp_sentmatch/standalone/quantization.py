"""Matrices rounded to 8 or 4 bits, to be stored.

A row w of a matrix becomes the integers round(w / s) with the scale s = max|w| / 127, or 7 for 4
bits. Integers of 8 bits have the matrix' name. Two of 4 bits share a byte, the first of them in the
lower half, and have that name and ".int4". The scales of the rows have the matrix' name and
".scales"; they are float32, or float16 beside 4 bits.
"""

from collections.abc import Collection, Mapping

import torch
from torch import Tensor

SCALES = ".scales"
INT4 = ".int4"

LARGEST_OF_8_BITS, LARGEST_OF_4_BITS = 127, 7


def rounded_rows(weight: Tensor, largest: int) -> tuple[Tensor, Tensor]:
    """Round each row of a matrix (N, D) to integers of at most `largest`.

    Returns the integers (N, D), int8, and the scales (N,), float32.
    """
    scales = weight.float().abs().amax(1) / largest  # (N,)
    if largest == LARGEST_OF_4_BITS:
        scales = scales.half().float()
    steps = weight.float() / scales[:, None]
    steps = steps.masked_fill(scales[:, None] == 0, 0)  # rows of zeros, or as good as
    return steps.round().clamp(-largest, largest).to(torch.int8), scales


def quantized(tensors: Mapping[str, Tensor], int4: Collection[str] = ()) -> dict[str, Tensor]:
    """Round all matrices among floating-point tensors; the others stay as they are.

    `int4` names the matrices to round to 4 bits: they have an even number of columns.
    """
    rounded = {}
    for name, tensor in tensors.items():
        if name in int4:
            integers, scales = rounded_rows(tensor, LARGEST_OF_4_BITS)
            rounded[name + INT4] = (integers[:, 1::2] * 16) | (integers[:, 0::2] & 15)
            rounded[name + SCALES] = scales.half()
        elif tensor.dim() == 2:
            rounded[name], rounded[name + SCALES] = rounded_rows(tensor, LARGEST_OF_8_BITS)
        else:
            rounded[name] = tensor
    return rounded


def dequantized(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Undo `quantized`, up to the rounding, for tensors of a file from anybody.

    Integers without a scale for each row are a `ValueError`.
    """
    restored = dict(tensors)
    for name, tensor in tensors.items():
        if tensor.dtype != torch.int8:
            continue
        is_int4 = name.endswith(INT4)
        plain = name[: -len(INT4)] if is_int4 else name
        scales = restored.pop(plain + SCALES, None)
        if tensor.dim() != 2 or scales is None or scales.shape != tensor.shape[:1]:
            raise ValueError(f"{name!r} has integers, but not a scale for each of its rows")
        if not scales.is_floating_point():
            raise ValueError(f"{plain + SCALES!r} has integers; scales are floating-point")
        if is_int4:
            del restored[name]
            lower, upper = ((tensor & 15) ^ 8) - 8, tensor >> 4  # (N, D / 2)
            tensor = torch.stack([lower, upper], 2).flatten(1)  # (N, D)
        if plain in restored and is_int4:
            raise ValueError(f"{plain!r} is there twice")
        restored[plain] = tensor.float() * scales.float()[:, None]
    return restored
