"""Matrices rounded to 8 bits, to be stored.

A row w of a matrix becomes the integers round(w / s) with the scale s = max|w| / 127. The integers
have the matrix' name, and the scales of its rows (float32) that name and ".scales".
"""

from collections.abc import Mapping

import torch
from torch import Tensor

SCALES = ".scales"


def quantized(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Round all matrices among floating-point tensors; the others stay as they are."""
    rounded = {}
    for name, tensor in tensors.items():
        if tensor.dim() == 2:
            scales = tensor.float().abs().amax(1) / 127  # (rows,)
            # A row of zeros has no scale to divide by.
            steps = tensor.float() / scales.clamp(min=torch.finfo(torch.float32).tiny)[:, None]
            rounded[name] = steps.round().clamp(-127, 127).to(torch.int8)
            rounded[name + SCALES] = scales
        else:
            rounded[name] = tensor
    return rounded


def dequantized(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Undo `quantized`, up to the rounding, for tensors of a file from anybody.

    # Raises

    `ValueError` for integers without a scale for each row.
    """
    restored = dict(tensors)
    for name, tensor in tensors.items():
        if tensor.dtype == torch.int8:
            scales = restored.pop(name + SCALES, None)
            if tensor.dim() != 2 or scales is None or scales.shape != tensor.shape[:1]:
                raise ValueError(f"{name!r} has integers, but not a scale for each of its rows")
            if not scales.is_floating_point():
                raise ValueError(f"{name + SCALES!r} has integers; scales are floating-point")
            restored[name] = tensor.float() * scales.float()[:, None]
    return restored
