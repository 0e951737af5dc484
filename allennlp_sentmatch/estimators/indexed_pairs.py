"""Pairs as rows of the indices of their words, and their batches."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

import numpy
import torch
from allennlp.data import DataLoader, Instance, TensorDict
from allennlp.nn.util import move_to_device

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.standalone.text_indexer import padded

IndexRows = list[list[int]]


class IndexedPairs(NamedTuple):
    """N pairs as a model reads them."""

    first: IndexRows  # the indices of the words of the first sentences
    second: IndexRows
    targets: Array  # (N,), the indices of the labels, or grades in floats

    def selected(self, positions: Array) -> "IndexedPairs":
        """Return the pairs at some positions."""
        first = [self.first[position] for position in positions]
        second = [self.second[position] for position in positions]
        return IndexedPairs(first, second, self.targets[positions])


class PairLoader(DataLoader):
    """Yields batches of pairs, of `batch_size` except the last.

    With a seed, a batch has pairs of similar lengths, and each epoch has other batches in another
    order; without one, the pairs are in their order.
    """

    def __init__(self, pairs: IndexedPairs, batch_size: int, seed: Optional[int] = None) -> None:
        super().__init__()
        self._pairs = pairs
        self._batch_size = batch_size
        self._random = None if seed is None else numpy.random.default_rng(seed)
        self._device = torch.device("cpu")

    def __len__(self) -> int:
        return math.ceil(len(self._pairs.first) / self._batch_size)

    def __iter__(self) -> Iterator[TensorDict]:
        pairs = self._pairs
        order = numpy.arange(len(pairs.first))
        starts = order[:: self._batch_size].copy()
        if self._random is not None:
            rows = zip(pairs.first, pairs.second)
            lengths = numpy.array([max(len(first), len(second)) for first, second in rows])
            factors = self._random.uniform(0.9, 1.1, len(order))
            order = numpy.argsort(lengths * factors)
            self._random.shuffle(starts)
        for start in starts:
            batch = order[start : start + self._batch_size]
            yield move_to_device(_tensors_of(pairs.selected(batch)), self._device)

    def iter_instances(self) -> Iterator[Instance]:
        """Yield nothing: the texts are indexed already."""
        return iter(())

    def set_target_device(self, device: torch.device) -> None:
        """Move the next batches to this device."""
        self._device = device


def _tensors_of(pairs: IndexedPairs) -> Any:
    """Return a batch of B pairs as a model takes it, with a `label` or a float32 `score` (B,)."""
    tensors: dict[str, Any] = {
        "premise": {"tokens": {"tokens": padded(pairs.first)}},
        "hypothesis": {"tokens": {"tokens": padded(pairs.second)}},
    }
    targets = torch.as_tensor(pairs.targets)
    if targets.is_floating_point():
        tensors["score"] = targets.float()
    else:
        tensors["label"] = targets
    return tensors
