"""The choice of the pairs that the Gumbel Tree-LSTM merges."""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import torch
from torch import Tensor


class Choices(NamedTuple):
    """The way to choose pairs: from given trees, else sampled with given noise, else greedily."""

    merges: Optional[Tensor]  # (B, T - 1)
    #: Gumbel noise of each layer: (B, T - 1), (B, T - 2), ..., (B, 1)
    noise: Optional[Sequence[Tensor]]
    temperature: float  # of the relaxation of a sampled choice

    def of_sentences(self, indices: Tensor) -> "Choices":
        """Select the choices for these sentences."""
        return Choices(
            None if self.merges is None else self.merges[indices],
            None if self.noise is None else [layer[indices] for layer in self.noise],
            self.temperature,
        )


def choose_greedily(scores: Tensor, allowed: Tensor, query: Tensor) -> Tensor:
    """Choose the best pair of each sentence, the leftmost among equally good ones.

    Pairs of the same words have equal scores up to rounding, which depends on the rest of the
    batch. Scores within the rounding error count as equal, so that the tree does not depend on it.

    # Parameters

    scores : `Tensor`
        Shape (B, M), products of `query` with vectors whose elements are in [-1, 1].
    allowed : `Tensor`
        Shape (B, M), bool.
    query : `Tensor`
        Shape (H).

    # Returns

    `Tensor`
        Shape (B), indices; 0 in a row where no pair is allowed.
    """
    scores = scores.masked_fill(~allowed, -torch.inf)
    best: Tensor = scores >= scores.amax(1, keepdim=True) - rounding_of_scores(query)  # (B, M)
    return best.to(torch.uint8).argmax(1)


def rounding_of_scores(query: Tensor) -> Tensor:
    """Return the difference below which scores count as equal, a scalar."""
    rounding: Tensor = 16 * torch.finfo(query.dtype).eps * query.norm()
    return rounding
