"""Right-padded sentences from their last token to their first."""

import torch


def reverse_sentences(sequence: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Reverse the tokens of each sentence (B, T, ...), and keep its padding on the right.

    The function is its own inverse.
    """
    return sequence[reversed_indices(mask)]


def reversed_indices(mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the indices of `reverse_sentences(sequence, mask)` in `sequence`, for several."""
    lengths = mask.sum(1, keepdim=True)  # (B, 1)
    position = torch.arange(mask.size(1), device=mask.device)  # (T)
    source = torch.where(mask, lengths - 1 - position, position)  # (B, T)
    row = torch.arange(mask.size(0), device=mask.device).unsqueeze(1)  # (B, 1)
    return row, source
