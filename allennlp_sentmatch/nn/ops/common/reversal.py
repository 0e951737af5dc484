"""Right-padded sentences from their last token to their first."""

import torch


def reverse_sentences(sequence: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The tokens of each sentence in reverse, its padding still on the right: its own inverse.

    # Parameters

    sequence : `torch.Tensor`
        Shape (batch_size, sequence_length, ...).
    mask : `torch.Tensor`
        Shape (batch_size, sequence_length), bool, right-padded.

    # Returns

    `torch.Tensor`
        The shape of `sequence`.
    """
    return sequence[reversed_indices(mask)]


def reversed_indices(mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The indices that take `sequence` to `reverse_sentences(sequence, mask)`, for several."""
    lengths = mask.sum(1, keepdim=True)  # (B, 1)
    position = torch.arange(mask.size(1), device=mask.device)  # (T)
    source = torch.where(mask, lengths - 1 - position, position)  # (B, T)
    row = torch.arange(mask.size(0), device=mask.device).unsqueeze(1)  # (B, 1)
    return row, source
