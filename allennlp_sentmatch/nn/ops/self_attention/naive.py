"""The scores of additive attention for a whole batch at once."""

import torch
from torch import Tensor


def additive_scores(queries: Tensor, keys: Tensor, vector: Tensor, mask: Tensor) -> Tensor:
    """Compute the function of the same name in `ops.self_attention.scores`."""
    hidden_layer = torch.tanh(queries.unsqueeze(2) + keys.unsqueeze(1))  # (B, T, T, A)
    scores = hidden_layer @ vector  # (B, T, T)
    return scores.masked_fill(~(mask.unsqueeze(2) & mask.unsqueeze(1)), 0.0)
