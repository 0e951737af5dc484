"""Examples to learn from: pairs with their labels or scores, weights and groups.

Pairs of the weight 0 are left out. Equal pairs are learned or held out together.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.estimators.groups import (
    checked_groups,
    group_equal,
    joined_groups,
    numbered,
)
from allennlp_sentmatch.estimators.pairs import Pairs, checked_targets
from allennlp_sentmatch.files.folders import errors_name
from allennlp_sentmatch.files.texts import Sentences


class Examples(NamedTuple):
    """N pairs, and their labels or scores to learn."""

    first: Sentences
    second: Sentences
    targets: Array  # (N,), indices of the labels, all of which occur, or scores as floats
    weights: Array  # (N,), how much each pair counts in the loss
    counts: Array  # (N,), each pair's weight in figures, without the weights of labels
    pairs: Array  # (N,), numbers from 0; equal pairs, in either order, share a number
    groups: Array  # (N,), numbers from 0; a group is learned or held out as a whole
    labels: Sequence[Any] = ("score",)  # the names of the outputs: the labels, or one for scores

    def num_different(self) -> int:
        """Return the number of different pairs."""
        return int(self.pairs.max()) + 1

    def merged(self) -> "Examples":
        """Return each distinct pair with its target, and the sums of its weights and counts.

        Equal pairs with different targets stay apart. The pairs are in the order in which they
        occur first.
        """
        numbers = numbered(zip(self.first, self.second, self.targets.tolist()))
        _, kept = numpy.unique(numbers, return_index=True)  # the first position of each number
        if len(kept) == len(numbers):
            return self
        return Examples(
            Sentences(self.first[position] for position in kept),
            Sentences(self.second[position] for position in kept),
            self.targets[kept],
            numpy.bincount(numbers, self.weights),
            numpy.bincount(numbers, self.counts),
            self.pairs[kept],
            self.groups[kept],
            self.labels,
        )


def checked_examples(
    pairs: Pairs,
    y: Any,
    sample_weight: Any,
    groups: Any,
    numeric: bool,
) -> Examples:
    """Return the pairs that have a weight above 0, with what a user gives for them.

    The targets are the scores, if `numeric`, or the labels, neither of them encoded yet, and the
    weights are the counts. Raise `TypeError` or `ValueError`, which names the pair or the
    parameter, for anything invalid.
    """
    values = checked_targets(y, len(pairs.first), numeric)
    counts = checked_weights(sample_weight, len(values))
    given_groups = checked_groups(groups, len(values))
    kept = counts > 0
    first = Sentences(compress(pairs.first, kept))
    second = Sentences(compress(pairs.second, kept))
    equal = group_equal(zip(first, second))
    joined = equal
    if given_groups is not None:
        joined = joined_groups(equal, given_groups[kept])
    return Examples(first, second, values[kept], counts[kept], counts[kept], equal, joined)


def checked_weights(sample_weight: Any, count: int) -> Array:
    """Return the weights (N,) of `count` pairs, by default 1.

    Raise `ValueError` for a number below 1e-9 or above 1e9 that is not 0, and for a masked one,
    with the pair's position, for a wrong number of weights, and if all are 0.
    """
    if sample_weight is None:
        return numpy.ones(count)
    with errors_name("sample_weight"):
        weights: Array = numpy.ma.asarray(sample_weight, float).filled(numpy.nan)
    if weights.shape != (count,):
        raise ValueError(f"expected {count} numbers as sample_weight; got {weights.shape}")
    is_valid = (weights == 0) | ((weights >= 1e-9) & (weights <= 1e9))
    if not is_valid.all():
        position = is_valid.argmin()
        raise ValueError(
            "sample_weight must have numbers from 1e-9 to 1e9, or 0 for some pairs; the weight of "
            f"pair {position} is {weights[position]}"
        )
    if not weights.any():
        raise ValueError("all pairs have the sample_weight 0; give some of them a number above 0")
    return weights
