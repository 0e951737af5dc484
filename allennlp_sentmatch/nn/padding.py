"""Batches of sentences of different lengths, padded on the right."""

import torch
import torch.nn.functional as F
from torch import Tensor


def stack_padded(
    first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """Stack two padded batches into one, so that a single call encodes both.

    # Parameters

    first : `Tuple[Tensor, Tensor]`
        Inputs (B1, T1, D) and mask (B1, T1).
    second : `Tuple[Tensor, Tensor]`
        Inputs (B2, T2, D) and mask (B2, T2).

    # Returns

    `Tuple[Tensor, Tensor]`
        Inputs (B1 + B2, T, D) and mask (B1 + B2, T) with T = max(T1, T2). The first
        batch comes first.
    """
    num_tokens = max(first[0].size(1), second[0].size(1))
    inputs = [F.pad(x, (0, 0, 0, num_tokens - x.size(1))) for x, _ in (first, second)]
    masks = [F.pad(mask, (0, num_tokens - mask.size(1))) for _, mask in (first, second)]
    return torch.cat(inputs), torch.cat(masks)
