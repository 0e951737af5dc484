"""Batches of sentences of different lengths, padded on the right."""

from collections.abc import Sequence
from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.autocast import is_autocast_enabled
from allennlp_sentmatch.nn.ops.common.autograd import zero_of
from allennlp_sentmatch.nn.ops.common.execution import has_values
from allennlp_sentmatch.nn.ops.common.packing import check_order
from allennlp_sentmatch.nn.ops.common.packing import clear_padding as clear_padding
from allennlp_sentmatch.nn.ops.common.packing import mask_of as mask_of


def check_padded(
    inputs: Tensor,
    mask: Optional[Tensor],
    input_size: int,
    dtype: torch.dtype,
    names: tuple[str, str] = ("inputs", "mask"),
) -> tuple[Tensor, Tensor]:
    """Check an encoder's inputs (B, T, input_size) and mask (B, T).

    Return the inputs in the precision of the encoder's parameters, `dtype`, and the mask, or one
    without padding. Under autocast the inputs may have another precision. `names` are the names of
    the two arguments in errors, which `allennlp_sentmatch.nn` describes.

    The values of the mask are checked on the CPU. A GPU would have to finish all earlier work
    first; the recurrences that need the sentences' lengths check them there. They are not checked
    under `torch.compile` and `torch.export`.
    """
    inputs_name, mask_name = names
    for name, x in zip(names, (inputs, mask)):
        if x is not None and (not isinstance(x, Tensor) or x.is_nested):
            raise TypeError(f"{name} must be a padded tensor, got a {type(x).__name__}")
    if inputs.dim() != 3 or inputs.size(2) != input_size:
        raise ValueError(
            f"{inputs_name} must have the shape (batch_size, num_tokens, {input_size}), "
            f"got {tuple(inputs.shape)}"
        )
    mask = mask_of(inputs, mask)
    if mask.shape != inputs.shape[:2]:
        raise ValueError(
            f"{mask_name} must have the shape (batch_size, num_tokens) of the {inputs_name}, "
            f"{tuple(inputs.shape[:2])}, got {tuple(mask.shape)}"
        )
    if not inputs.is_floating_point():
        raise TypeError(
            f"{inputs_name} must be floating point numbers, got {inputs.dtype}; embed the tokens "
            f"first, or call {inputs_name}.to({dtype})"
        )
    if inputs.dtype != dtype and (  # autocast converts all types but float64
        inputs.dtype == torch.float64 or not is_autocast_enabled(inputs.device.type)
    ):
        raise TypeError(
            f"{inputs_name} must have the type of the encoder's parameters, {dtype}, got "
            f"{inputs.dtype}; call {inputs_name}.to({dtype}) or encoder.to({inputs.dtype})"
        )
    check_mask(mask, mask_name)
    return inputs.to(dtype), mask


def check_mask(mask: Tensor, name: str = "mask") -> None:
    """Check that a mask (B, T) is bool and, on a CPU and outside of tracing, right-padded."""
    if mask.dtype != torch.bool:
        raise TypeError(
            f"{name} must be bool, true at tokens, got {mask.dtype}; call {name}.bool()"
        )
    if mask.device.type == "cpu" and has_values(mask):
        check_order(mask, name)


def zero_outputs(
    module: torch.nn.Module,
    inputs: Tensor,
    shape: Sequence[int],
) -> Tensor:
    """Return the outputs of a module for sentences without tokens: zeros of the given shape.

    They have the type of the parameters or, without any, of the inputs. The gradients of the
    inputs and the parameters are zeros.
    """
    zero = zero_of(inputs, *module.parameters())
    return zero.new_zeros(shape) + zero


def stack_padded(
    first: tuple[Tensor, Tensor],
    second: tuple[Tensor, Tensor],
) -> tuple[Tensor, Tensor]:
    """Stack two padded batches, the first one first, so that a single call encodes both.

    Inputs (B1, T1, D) and (B2, T2, D) with masks (B1, T1) and (B2, T2) become inputs
    (B1 + B2, T, D) and a mask (B1 + B2, T), with T = max(T1, T2).
    """
    num_tokens = max(first[0].size(1), second[0].size(1))
    inputs = []
    masks = []
    for x, mask in (first, second):
        missing = num_tokens - x.size(1)
        inputs.append(F.pad(x, (0, 0, 0, missing)))
        masks.append(F.pad(mask, (0, missing)))
    return torch.cat(inputs), torch.cat(masks)
