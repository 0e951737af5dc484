"""Attention weights over sentences of different lengths."""

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Compute the softmax of the unmasked scores over the last dimension, exactly zero elsewhere.

    The scores are (..., N), and the bool mask can be broadcast to their shape. Masked scores may
    have any value, even NaN. An entirely masked row is zero.

    AllenNLP's function of the same name is less precise: it renormalizes the softmax of
    `scores * mask`, whose rounding depends on the padding if all scores are far below zero.
    """
    # The lowest finite value, not -inf, keeps the softmax of an entirely masked row finite.
    lowest = torch.finfo(scores.dtype).min
    masked = scores.masked_fill(~mask, lowest)
    weights = masked.softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0)
