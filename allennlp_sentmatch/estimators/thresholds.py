"""The probability from which on to act on a label, chosen on pairs that were held out."""

from typing import Any, NamedTuple, Optional

import numpy
import torch
from torch import Tensor

Array = numpy.ndarray[Any, Any]

Z = 1.959964
"""The normal distribution's quantile of an interval of 95 %."""


class HeldOut(NamedTuple):
    """M pairs, and what models that did not learn from them predicted.

    The first M, of at least 0, are those of cross-validation.
    """

    outputs: Array
    """(M, C), the logits."""
    targets: Array
    """(M,), the indices of the labels."""
    weights: Array
    """(M,), how often each pair counts."""

    def tensors(self) -> dict[str, Tensor]:
        """The same for a file."""
        values = self._asdict().items()
        return {f"held_out.{name}": torch.from_numpy(value.astype(float)) for name, value in values}

    @classmethod
    def pop(cls, tensors: dict[str, Tensor], num_labels: int) -> Optional["HeldOut"]:
        """Take it from the tensors of a file, which need not have it.

        # Raises

        `ValueError` for tensors that `tensors` did not give.
        """
        names = [f"held_out.{name}" for name in cls._fields]
        if not set(names) & set(tensors):
            return None
        outputs, targets, weights = (
            tensors.pop(name, torch.zeros(0)).double().numpy() for name in names
        )
        labels = targets.astype(int)
        if (
            outputs.shape != (len(targets), num_labels)
            or weights.shape != targets.shape
            or not ((labels == targets) & (labels >= 0) & (labels < num_labels)).all()
            or not (weights > 0).all()
        ):
            raise ValueError("the tensors held_out do not belong together")
        return cls(outputs, labels, weights)


class Threshold(NamedTuple):
    """A probability from which on a pair counts as one of a label, and what it does.

    The figures are of the pairs held out in cross-validation.
    """

    probability: float
    """Give the label to pairs with at least this probability of it."""
    precision: float
    """The share of right ones among the pairs that are given the label."""
    recall: float
    """The share of the pairs of the label that are given it."""
    f1: float
    """2 * precision * recall / (precision + recall)"""
    interval: tuple[float, float]
    """Wilson's 95 % interval of the figure that was asked for. It takes the threshold as given: the
    choice of the best one on the same pairs is not in it."""


def choose_threshold(
    scores: Array, is_right: Array, weights: Array, aim: str = "f1", wanted: float = 0
) -> Threshold:
    """The threshold of scores (M,) that reaches the aim and is best otherwise.

    # Parameters

    scores : `numpy.ndarray`
        (M,), from 0 to 1.
    is_right : `numpy.ndarray`
        (M,), whether the pairs have the label; some have.
    weights : `numpy.ndarray`
        (M,), above 0.
    aim : `str`, optional (default = `"f1"`)
        "precision": of the thresholds with at least the precision `wanted`, the one with the
        highest recall; "recall": the reverse; "f1": the one with the highest F1.
    wanted : `float`, optional (default = `0`)

    # Raises

    `ValueError` if no threshold reaches the aim, with the highest that one reaches.
    """
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
    low, high = _wilson(weights[base], weights[base & is_given & is_right].sum())
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


def _wilson(weights: Array, right: float) -> tuple[float, float]:
    """Wilson's interval of the share `right / weights.sum()`, of Kish's effective number of pairs.

    Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953. Without weights, the number is that
    of the pairs.
    """
    share = right / weights.sum()
    number = weights.sum() ** 2 / (weights**2).sum()
    middle = (share + Z**2 / (2 * number)) / (1 + Z**2 / number)
    width = numpy.sqrt(share * (1 - share) / number + Z**2 / (4 * number**2))
    half = Z * width / (1 + Z**2 / number)
    return float(max(middle - half, 0)), float(min(middle + half, 1))
