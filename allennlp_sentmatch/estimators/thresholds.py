"""The probability from which on to act on a label, chosen on pairs that were held out."""

from typing import Any, NamedTuple, Optional

import numpy

Array = numpy.ndarray[Any, Any]

Z = 1.959964  # the normal distribution's quantile of an interval of 95 %


class HeldOut(NamedTuple):
    """The predictions of cross-validation for the M pairs that it held out."""

    outputs: Array  # (M, C), the logits
    targets: Array  # (M,), the indices of the labels
    weights: Array  # (M,), how often each pair counts
    pairs: Array  # (M,), numbers: equal pairs have the same
    groups: Array  # (M,), numbers: equal pairs, and pairs of a group that was given, have the same

    def accuracy(self) -> tuple[float, tuple[float, float]]:
        """Return the share of pairs whose label has the highest logit, and its 95 % interval."""
        is_right = self.outputs.argmax(axis=1) == self.targets
        share = float(numpy.average(is_right, weights=self.weights))
        return share, wilson_interval(share, self.weights, self.groups)

    def counts(self) -> dict[str, int]:
        """Count the different pairs and, if groups were given, the groups."""
        counts = {"pairs": len(numpy.unique(self.pairs)), "groups": len(numpy.unique(self.groups))}
        if counts["groups"] == counts["pairs"]:
            del counts["groups"]
        return counts


class Threshold(NamedTuple):
    """A probability from which on to give a label, with its figures on the pairs held out."""

    probability: float
    precision: float
    recall: float
    f1: float
    interval: tuple[float, float]
    """Wilson's 95 % interval of the figure that was asked for, at this threshold: that it is the
    best one for the same pairs is not in it."""


def choose_threshold(
    scores: Array,
    is_right: Array,
    weights: Array,
    aim: str = "f1",
    wanted: float = 0,
    groups: Optional[Array] = None,
) -> Threshold:
    """Choose a threshold of the scores (M,), from 0 to 1, of pairs with `weights` (M,).

    `is_right` (M,) says which pairs have the label; some have it. The aim is "precision" (the
    highest recall with at least the precision `wanted`), "recall" (the reverse) or "f1" (the
    highest). The interval counts `groups` (M,), by default each pair. If no threshold reaches the
    aim, a `ValueError` has the highest that one reaches.
    """
    groups = numpy.arange(len(scores)) if groups is None else groups
    order = numpy.argsort(-scores, kind="stable")
    last = numpy.flatnonzero(numpy.diff(scores[order], append=-numpy.inf))  # of equal scores
    right = numpy.cumsum((weights * is_right)[order])[last]
    given = numpy.cumsum(weights[order])[last]
    figures = {"precision": right / given, "recall": right / right[-1]}
    figures["f1"] = 2 * right / (given + right[-1])
    reached = numpy.flatnonzero(figures[aim] >= wanted - 1e-12)
    if not len(reached):
        best = figures[aim].argmax()
        raise ValueError(
            f"no threshold reaches the {aim} {wanted:g} on the {len(scores)} pairs held out; the "
            f"highest is {figures[aim][best]:.4g}, with a recall of {figures['recall'][best]:.4g}"
        )
    others = {"precision": ("recall", "precision"), "recall": ("precision", "recall")}
    keys = [figures[name][reached] for name in others.get(aim, ("f1", "recall"))]
    best = reached[numpy.lexsort(keys[::-1])[-1]]
    score = float(scores[order[last[best]]])
    lower = float(scores[order[last[best + 1]]]) if best + 1 < len(last) else 0.0
    is_given = scores >= score
    base = {"precision": is_given, "recall": is_right, "f1": is_given | is_right}[aim]
    share = weights[base & is_given & is_right].sum() / weights[base].sum()
    low, high = wilson_interval(share, weights[base], groups[base])
    if aim == "f1":  # a function of the share of right ones among `base`
        low, high = 2 * low / (1 + low), 2 * high / (1 + high)
    precision, recall, f1 = (float(values[best]) for values in figures.values())
    return Threshold(simplest_number(lower, score), precision, recall, f1, (low, high))


def simplest_number(lower: float, upper: float) -> float:
    """A number in (lower, upper] with few decimals, near the middle."""
    middle = (lower + upper) / 2
    for digits in range(2, 17):
        rounded = round(middle, digits)
        if lower < rounded <= upper:
            return rounded
    return upper


def wilson_interval(share: float, weights: Array, groups: Array) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a weighted share of pairs in `groups` (N,).

    Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953. It takes Kish's effective number
    of the groups' weights: of equal weights, it is the number of groups.
    """
    _, numbers = numpy.unique(groups, return_inverse=True)
    by_group = numpy.bincount(numbers, weights)
    number = by_group.sum() ** 2 / (by_group**2).sum()
    middle = (share + Z**2 / (2 * number)) / (1 + Z**2 / number)
    width = numpy.sqrt(share * (1 - share) / number + Z**2 / (4 * number**2))
    half = Z * width / (1 + Z**2 / number)
    return float(max(middle - half, 0)), float(min(middle + half, 1))
