"""The probability at which to act on a label, chosen on held-out pairs.

At a threshold, the label is given to the pairs with at least this probability. Precision is the
share of these pairs that have the label, and recall the share of the label's pairs that get it.
"""

from math import sqrt
from typing import Any, NamedTuple, Optional

import numpy

from allennlp_sentmatch.array_types import Array

Z = 1.959964  # the normal distribution's quantile for a 95 % interval


class HeldOut(NamedTuple):
    """The predictions of cross-validation for its M held-out pairs."""

    outputs: Array
    """(M, C), the logits, by models that have not seen the pair. With one feature and two labels,
    they are the whole model's, so that they rank as the feature does across the folds, too.
    """
    predicted: Array  # (M,), the indices of the predicted labels
    targets: Array  # (M,), the indices of the labels
    weights: Array  # (M,), how often each pair counts
    pairs: Array  # (M,), numbers; equal pairs share one
    groups: Array  # (M,), numbers; equal pairs, and pairs of a user's group, share one

    def accuracy(self) -> tuple[float, tuple[float, float]]:
        """Return the accuracy, and its 95 % interval."""
        is_right = self.predicted == self.targets
        share = float(numpy.average(is_right, weights=self.weights))
        return share, wilson_interval(share, effective_number(self.weights, self.groups))

    def figures(self) -> dict[str, Any]:
        """Return readable figures, which also count the groups, if they were given."""
        accuracy, interval = self.accuracy()
        figures = {
            "accuracy in cross-validation": round(accuracy, 4),
            "its 95 % interval": [round(end, 4) for end in interval],
        }
        for kind, count in self.counts().items():
            figures[f"{kind} in cross-validation"] = count
        return figures

    def counts(self) -> dict[str, int]:
        """Count the different pairs and, if groups were given, the groups."""
        num_pairs = len(numpy.unique(self.pairs))
        num_groups = len(numpy.unique(self.groups))
        counts = {"pairs": num_pairs}
        if num_groups != num_pairs:
            counts["groups"] = num_groups
        return counts


class Threshold(NamedTuple):
    """A probability at which to give a label, with its figures on the held-out pairs."""

    probability: float
    precision: float
    recall: float
    f1: float
    interval: tuple[float, float]
    """Wilson's 95 % interval of the requested figure at this threshold. It ignores that the
    threshold was chosen on the same pairs.
    """


class Judged(NamedTuple):
    """M pairs with scores, from 0 to 1, for a label that some of the pairs have."""

    scores: Array  # (M,)
    is_right: Array  # (M,), whether a pair has the label
    weights: Array  # (M,), how often each pair counts
    groups: Array  # (M,), numbers; an interval counts the pairs of a group as one

    def interval(self, aim: str, score: float) -> tuple[float, float]:
        """Return Wilson's interval of a figure for the threshold `score`."""
        is_given = self.scores >= score
        bases = {
            "precision": is_given,
            "recall": self.is_right,
            "f1": is_given | self.is_right,
        }
        base = bases[aim]
        weights = self.weights[base]
        right = self.weights[is_given & self.is_right]
        share = right.sum() / weights.sum()
        low, high = wilson_interval(float(share), effective_number(weights, self.groups[base]))
        if aim == "f1":  # a function of the correct share of `base`
            low = 2 * low / (1 + low)
            high = 2 * high / (1 + high)
        return low, high


class Curve(NamedTuple):
    """The figures (T,) of T distinct thresholds, from the highest to the lowest."""

    scores: Array
    counts: Array  # how many pairs have at least this score
    precision: Array
    recall: Array
    f1: Array

    @classmethod
    def of(cls, scores: Array, is_right: Array, weights: Array) -> "Curve":
        """Return the figures of all thresholds of M pairs, some of which have the label."""
        order = numpy.argsort(-scores, kind="stable")
        scores = scores[order]
        weights = weights[order]
        is_right = is_right[order]
        last = numpy.flatnonzero(numpy.diff(scores, append=-numpy.inf))  # the last of equal ones
        right = numpy.cumsum(weights * is_right)[last]
        given = numpy.cumsum(weights)[last]
        all_right = right[-1]
        return cls(
            scores=scores[last],
            counts=last + 1,
            precision=right / given,
            recall=right / all_right,
            f1=2 * right / (given + all_right),
        )

    def best(self, aim: str, positions: Array) -> int:
        """Return the best of some positions.

        The figure that is not the aim decides, and in ties the aim; for "f1", F1 and then recall.
        """
        keys = {
            "precision": (self.recall, self.precision),
            "recall": (self.precision, self.recall),
            "f1": (self.f1, self.recall),
        }
        first, second = keys[aim]
        order = numpy.lexsort((second[positions], first[positions]))
        return int(positions[order[-1]])


def choose_threshold(
    scores: Array,
    is_right: Array,
    weights: Array,
    aim: str = "f1",
    wanted: float = 0,
    groups: Optional[Array] = None,
    sure: bool = False,
) -> Threshold:
    """Choose a threshold of the scores (M,), from 0 to 1, of pairs with `weights` (M,).

    `is_right` (M,) says which pairs have the label; some have it. The interval counts `groups`
    (M,), by default each pair.

    The aim is "precision" (the highest recall with at least the precision `wanted`), "recall" (the
    reverse) or "f1" (the highest F1). With `sure`, the lower end of the interval has to reach it.
    Raise `ValueError`, with the best figure, if no threshold reaches the aim.
    """
    groups = numpy.arange(len(scores)) if groups is None else groups
    pairs = Judged(scores, is_right, weights, groups)
    curve = Curve.of(scores, is_right, weights)
    choose = _sure_position if sure else _position
    position = choose(pairs, curve, aim, wanted)
    score = float(curve.scores[position])
    lower = 0.0
    if position + 1 < len(curve.scores):
        lower = float(curve.scores[position + 1])
    return Threshold(
        probability=simplest_number(lower, score),
        precision=float(curve.precision[position]),
        recall=float(curve.recall[position]),
        f1=float(curve.f1[position]),
        interval=pairs.interval(aim, curve.scores[position]),
    )


def _position(pairs: Judged, curve: Curve, aim: str, wanted: float) -> int:
    """Return the position of the best threshold whose figure reaches what is wanted.

    Raise `ValueError`, with the highest figure, if there is none.
    """
    figures: Array = getattr(curve, aim)
    reached = numpy.flatnonzero(figures >= wanted - 1e-12)
    if not len(reached):
        best = figures.argmax()
        raise ValueError(
            f"no threshold reaches the {aim} {wanted:g} on the {len(pairs.scores)} pairs held out; "
            f"the highest is {figures[best]:.4g}, with a recall of {curve.recall[best]:.4g}"
        )
    return curve.best(aim, reached)


def _sure_position(pairs: Judged, curve: Curve, aim: str, wanted: float) -> int:
    """Return the position of the best threshold whose interval is not below what is wanted.

    By chance, the precision of the best of many thresholds is too good. So only a few thresholds
    are tried, with different numbers of labeled pairs. For a recall, which only rises from the
    highest threshold to the lowest, all are tried.

    Raise `ValueError`, with the highest lower end, if no interval is high enough.
    """
    if aim == "precision":
        positions = _spread(curve.counts, wanted)
        intervals = [pairs.interval(aim, score) for score in curve.scores[positions]]
    else:
        positions = numpy.arange(len(curve.scores))
        is_right = pairs.is_right
        number = effective_number(pairs.weights[is_right], pairs.groups[is_right])
        intervals = [wilson_interval(recall, number) for recall in curve.recall.tolist()]
    lower_ends = numpy.array([low for low, _ in intervals])
    reached = positions[lower_ends >= wanted]
    if not len(reached):
        raise ValueError(
            f"no threshold is sure to reach the {aim} {wanted:g}: of the {len(pairs.scores)} pairs "
            f"held out, the highest lower end of an interval is {lower_ends.max():.4g}; ask for "
            "less, or label more pairs"
        )
    return curve.best(aim, reached)


def _spread(counts: Array, precision: float) -> Array:
    """Return the positions of a few of the ascending `counts` (T,), including the last one.

    The first is the smallest count at which the lower end can reach the precision, if all are
    right; each of the others is larger by a quarter.
    """
    wanted = numpy.inf
    if precision < 1:
        wanted = Z**2 * precision / (1 - precision)
    positions = [len(counts) - 1]
    while wanted <= counts[-1]:
        positions.append(int(numpy.searchsorted(counts, wanted)))
        wanted *= 1.25
    return numpy.unique(positions)


def simplest_number(lower: float, upper: float) -> float:
    """Return a number with few decimals in (lower, upper], near the middle."""
    middle = (lower + upper) / 2
    for digits in range(2, 17):
        rounded = round(middle, digits)
        if lower < rounded <= upper:
            return rounded
    return upper


def effective_number(weights: Array, groups: Array) -> float:
    """Return Kish's effective number of groups: with equal weights, the number of groups.

    `weights` (N,) are the weights of pairs, and `groups` (N,) the groups that have them.
    """
    _, numbers = numpy.unique(groups, return_inverse=True)
    by_group = numpy.bincount(numbers, weights)
    return float(by_group.sum() ** 2 / (by_group**2).sum())


def wilson_interval(share: float, number: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of some number of pairs.

    Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953.
    """
    scale = 1 + Z**2 / number
    middle = (share + Z**2 / (2 * number)) / scale
    variance = share * (1 - share) / number + Z**2 / (4 * number**2)
    half = Z * sqrt(variance) / scale
    return max(middle - half, 0.0), min(middle + half, 1.0)
