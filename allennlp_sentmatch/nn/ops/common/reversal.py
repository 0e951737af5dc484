"""Right-padded sentences from their last token to their first."""

import torch
from torch import Tensor


def in_order(sequence: Tensor, mask: Tensor, direction: int) -> Tensor:
    """Return sentences (B, T, ...) as direction 0 or 1 reads them, or what it read in their order.

    Direction 1 reads each sentence in reverse, with its padding on the right, so that no state
    passes through padding to a token. The mask is (B, T).
    """
    return sequence[reversed_indices(mask)] if direction else sequence


def reversed_indices(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the indices that reverse each sentence of a sequence (B, T, ...) with the mask (B, T).

    They are (B, 1) and (B, T), for the first two dimensions. Padding stays where it is, so that
    they also undo the reversal.
    """
    B, T = mask.shape
    row = torch.arange(B, device=mask.device).unsqueeze(1)  # (B, 1)
    position = torch.arange(T, device=mask.device)  # (T)
    last = mask.sum(1, keepdim=True) - 1  # (B, 1)
    from_end = last - position  # (B, T)
    return row, torch.where(mask, from_end, position)
