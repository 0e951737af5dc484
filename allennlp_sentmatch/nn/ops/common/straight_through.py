"""A one-hot choice with the gradient of its relaxation (Choi 2020, eqs 3.8, 3.21 and 3.24)."""

import torch
from torch.nn.functional import hardtanh


def straight_through(
    scores: torch.Tensor,
    mask: torch.Tensor,
    temperature: float = 1.0,
) -> torch.Tensor:
    """Return the argmax of `scores` as a one-hot vector with the gradient of their softmax.

    The bool mask (..., K) is true at entries that may be chosen. Other scores, including NaN, have
    no effect and get no gradient. The result (..., K) is exactly one-hot, or zero with a zero
    gradient in a row where no entry may be chosen. Of equal scores, the first is chosen. Infinite
    scores get no gradient. The temperature divides the scores in the softmax.
    """
    largest = torch.finfo(scores.dtype).max
    forbidden = ~mask
    # Infinite scores would give NaN; without the product with the mask, a row without choices would
    # be uniform. The gradient of `clamp` would take a GPU five launches.
    bounded = hardtanh(scores / temperature, -largest, largest)
    logits = bounded.masked_fill(forbidden, -largest)
    relaxed = logits.softmax(-1) * mask
    # A permitted entry, even at -inf, comes before all others.
    allowed = scores.clamp(min=-largest).masked_fill(forbidden, -torch.inf)
    best = allowed.argmax(-1, keepdim=True)
    one_hot = torch.zeros_like(scores).scatter(-1, best, 1.0)
    chosen = one_hot * mask
    # The difference is exactly zero, so the value is exactly one-hot.
    return chosen + (relaxed - relaxed.detach())
