"""Right-padded sentences from their last token to their first."""

import torch


def reverse_sentences(sequence: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Reverse the tokens of each sentence (B, T, ...), and keep its padding on the right.

    The mask is (B, T). The function is its own inverse.
    """
    return sequence[reversed_indices(mask)]


def in_order(
    sequence: torch.Tensor,
    mask: torch.Tensor,
    direction: int,
) -> torch.Tensor:
    """Return sentences (B, T, ...) as direction 0 or 1 reads them, or what it read in their order.

    Direction 1 reads each sentence in reverse, with its padding on the right, so that no state
    passes through padding to a token.
    """
    return reverse_sentences(sequence, mask) if direction else sequence


def reversed_indices(mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the indices of the rows of `reverse_sentences(sequence, mask)` in `sequence`.

    They are (B, 1) and (B, T), for the first two dimensions, and the same for all sequences with
    this mask.
    """
    B, T = mask.shape
    row = torch.arange(B, device=mask.device).unsqueeze(1)  # (B, 1)
    position = torch.arange(T, device=mask.device)  # (T)
    last = mask.sum(1, keepdim=True) - 1  # (B, 1)
    from_end = last - position  # (B, T)
    return row, torch.where(mask, from_end, position)
