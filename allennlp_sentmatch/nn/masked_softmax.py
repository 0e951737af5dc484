"""Attention weights over sentences of different lengths."""

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """The softmax of the unmasked scores: over the last dimension, exactly zero elsewhere.

    AllenNLP's function of this name rounds: it computes the softmax of `scores * mask` and divides
    by what is left, so that weights depend on the padding where all scores are far below zero.

    # Parameters

    scores : `Tensor`
        (..., N)
    mask : `Tensor`
        Bool, broadcastable to the shape of `scores`. What is masked may be anything, NaN too.

    # Returns

    `Tensor`
        (..., N); all zeros where nothing is unmasked.
    """
    # The lowest finite value, not -inf: the softmax of a row without scores has to stay finite.
    lowest = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(~mask, lowest).softmax(dim=-1)
    return weights.masked_fill(~mask, 0.0)
