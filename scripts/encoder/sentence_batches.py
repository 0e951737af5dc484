"""Batches of sentences of similar length, in groups with similar vectors."""

import math
from collections.abc import Sequence
from typing import Any

import numpy
import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.standalone.text_indexer import TextIndexer

MAX_LENGTH = 64
"""The most word pieces of a sentence for training."""

LENGTHS = (5, 7, 9, 11, 13, 15, 17, 20, 23, 27, 32, 38, 46, MAX_LENGTH)
"""Sentences share a batch up to each of these numbers of word pieces."""

GROUP_SIZE = 16
BLOCK = 500_000


class Sentences:
    """The word pieces of sentences, one after another, on a device."""

    def __init__(self, indexer: TextIndexer, texts: Sequence[str], device: str) -> None:
        splitter: Any = indexer.splitter
        rows: list[list[int]] = []
        for start in range(0, len(texts), 100_000):
            some = splitter.tokenizer.encode_batch(
                texts[start : start + 100_000], add_special_tokens=False
            )
            rows += [found.ids[:MAX_LENGTH] or [indexer.empty] for found in some]
        self.lengths = numpy.array([len(row) for row in rows])
        self.starts = torch.from_numpy(numpy.cumsum(self.lengths) - self.lengths).to(device)
        pieces = numpy.fromiter((i for row in rows for i in row), numpy.int64)
        self.pieces = torch.from_numpy(pieces).to(device)

    def batch(self, rows: Array) -> Tensor:
        """Return the padded word pieces (B, T) of sentences."""
        places = torch.from_numpy(rows).to(self.pieces.device)
        steps = torch.arange(int(self.lengths[rows].max()), device=places.device)
        is_padding = steps >= torch.from_numpy(self.lengths[rows]).to(places.device)[:, None]
        indices = (self.starts[places][:, None] + steps).clamp(max=len(self.pieces) - 1)
        return self.pieces[indices].masked_fill(is_padding, 0)

    def batches(
        self, teacher: Tensor, num_pieces: int, largest: int, seed: tuple[int, int]
    ) -> list[tuple[Array, Array]]:
        """Return the rows (B) of batches and the groups (B) that they belong to, in random order.

        The `teacher` has vectors (N, E) of the first N sentences.
        """
        generator = numpy.random.default_rng(seed)
        number = torch.Generator(teacher.device).manual_seed(int(generator.integers(1 << 62)))
        batches = []
        lengths = self.lengths[: len(teacher)]
        ranges = numpy.searchsorted(LENGTHS, lengths)
        for similar in map(numpy.flatnonzero, ranges == numpy.unique(ranges)[:, None]):
            near = near_order(teacher[torch.from_numpy(similar).to(teacher.device)], number)
            rows = similar[near.cpu().numpy()]
            groups = numpy.arange(len(rows)) // GROUP_SIZE
            order = numpy.argsort(generator.permutation(len(rows) // GROUP_SIZE + 1)[groups])
            size = min(largest, max(64, int(num_pieces / lengths[rows].mean())))
            for start in range(0, len(rows) - 8, size):
                some = order[start : start + size]
                batches.append((rows[some], groups[some]))
        return [batches[i] for i in generator.permutation(len(batches))]


def near_order(vectors: Tensor, generator: torch.Generator) -> Tensor:
    """Order the rows of (N, E) so that neighbors in the order are near each other.

    The vectors are divided into halves by the median of a projection, and each half again, down to
    `GROUP_SIZE`: a tree of random projections (Dasgupta and Freund, 2008,
    https://doi.org/10.1145/1374376.1374452). A direction goes from one random vector of a part to
    another. It is then replaced by the difference of the means of the two halves.
    """
    number = len(vectors)
    device = vectors.device
    order = torch.randperm(number, generator=generator, device=device)
    places = torch.arange(number, device=device)
    for level in range(max(0, math.ceil(math.log2(number / GROUP_SIZE)))):
        parts = 2**level
        part = places * parts // number  # (N)
        sizes = torch.bincount(part, minlength=parts)
        first = sizes.cumsum(0) - sizes
        draws = torch.rand(2, parts, generator=generator, device=device)
        ends = vectors[order[first + (draws * sizes).long()]].float()  # (2, parts, E)
        direction = ends[0] - ends[1]
        for refines in (True, False):
            projection = torch.empty(number, device=device)
            means = torch.zeros(2, parts, vectors.size(1), device=device)
            for some in places.split(BLOCK):
                near = vectors[order[some]].float()
                projection[some] = (near * direction[part[some]]).sum(1)
                if refines:
                    side = (projection[some] > 0).long()
                    means.view(2 * parts, -1).index_add_(0, side * parts + part[some], near)
            if refines:
                direction = F.normalize(means[1], dim=1) - F.normalize(means[0], dim=1)
        order = order[(projection.double() + 8 * part).argsort()]
    return order
