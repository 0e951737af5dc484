"""Sentences of different lengths without their padding, one time step after another.

Sentences are ordered by their length, longest first, so that those that have a token at step t
are the first `sizes[t]` of them, and their rows are side by side: a step is a slice of the packed
rows, and no step computes anything for a sentence that has ended.
`torch.nn.utils.rnn.PackedSequence` has the same layout for one direction.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Packing(NamedTuple):
    """The order of the N tokens of a batch (B, T) in packed rows, for each of S directions."""

    #: The number of sentences at each step, not increasing; their sum is N.
    sizes: list[int]
    #: Shape (S, N): a packed row's index among S * B * T padded rows.
    indices: Tensor
    #: B and T.
    shape: tuple[int, int]

    @property
    def num_sentences(self) -> int:
        """The number of sentences that have a token."""
        return self.sizes[0] if self.sizes else 0

    @classmethod
    def of(cls, mask: Tensor, bidirectional: bool) -> "Packing":
        """The packing of sentences with the right-padded `mask` (B, T).

        With `bidirectional` there are two directions, of which the second runs through each
        sentence from its last token to its first.
        """
        B, T = mask.shape
        lengths, order = mask.sum(1).sort(descending=True, stable=True)
        steps = torch.arange(T, device=mask.device).unsqueeze(1)  # (T, 1)
        running = steps < lengths  # (T, B)
        indices = [(order * T + steps)[running]]
        if bidirectional:
            indices.append(((B + order) * T + lengths - 1 - steps)[running])
        sizes = [size for size in running.sum(1).tolist() if size]
        return cls(sizes, torch.stack(indices), (B, T))

    @property
    def order(self) -> Tensor:
        """The indices of the sentences that have tokens, longest first: (num_sentences)."""
        first_tokens = self.indices[0, : self.num_sentences]
        return torch.div(first_tokens, self.shape[1], rounding_mode="floor")

    def pack(self, sequence: Tensor) -> Tensor:
        """The tokens' vectors in each direction's order: (B, T, D) -> (S, N, D)."""
        B, T = self.shape
        S, N = self.indices.shape
        rows = sequence.reshape(B * T, sequence.size(-1))
        return rows.index_select(0, self.indices.view(-1) % (B * T)).view(S, N, sequence.size(-1))

    def unpack(self, packed: Tensor) -> Tensor:
        """The directions' vectors side by side, zero at padding: (S, N, H) -> (B, T, S * H)."""
        B, T = self.shape
        S, N, H = packed.shape
        rows = packed.new_zeros(S * B * T, H)
        rows = rows.index_copy(0, self.indices.view(-1), packed.reshape(S * N, H))
        return rows.view(S, B, T, H).permute(1, 2, 0, 3).reshape(B, T, S * H)

    def previous(self, packed: Tensor) -> Tensor:
        """The rows of the same sentences one step before: (S, N, H) -> (S, N - sizes[0], H).

        The rows of the first step, which have no step before them, are left out.
        """
        if not self.sizes:
            return packed
        rows = packed.size(1) - self.sizes[-1]  # those of the last step precede nothing
        if self.sizes[0] == self.sizes[-1]:
            return packed[:, :rows]
        sizes = torch.tensor(self.sizes, device=packed.device).unsqueeze(1)  # (T, 1)
        running = torch.arange(self.sizes[0], device=packed.device) < sizes  # (T, B)
        continues = running[1:][running[:-1]]  # (rows)
        return packed[:, :rows][:, continues]


def steps(packed: Tensor, sizes: list[int]) -> Sequence[Tensor]:
    """The rows of each step: (..., N, K) becomes a sequence of (..., size, K)."""
    return packed.split(sizes, -2)  # type: ignore[no-any-return]


def lengths_of(sizes: list[int]) -> Tensor:
    """The number of tokens of each sentence, longest first, on the CPU: (sizes[0])."""
    running = torch.arange(sizes[0], device="cpu") < torch.tensor(sizes, device="cpu").unsqueeze(1)
    return running.sum(0)
