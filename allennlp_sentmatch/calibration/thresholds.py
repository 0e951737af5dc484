"""Thresholds for acting on probabilities, chosen on labeled examples."""

from dataclasses import dataclass
from typing import Optional

import numpy

from allennlp_sentmatch.array_types import BoolArray, DoubleArray, IntArray
from allennlp_sentmatch.estimators.thresholds import Curve, simplest_number
from allennlp_sentmatch.predictors.classification_predictor import LabelThreshold, ThresholdSetting


@dataclass(frozen=True)
class Decisions:
    """The effect of a threshold on some examples.

    # Attributes

    undecided : `float`
        The share of the examples that get no label.
    precision : `Optional[float]`
        The share of correct predictions among the examples that get the positive label or, without
        a positive label, any label; `None` if there are no such examples.
    recall : `Optional[float]`
        The share of the examples with the positive label, or of all examples, that get the correct
        label; `None` if there are no such examples.
    f1 : `Optional[float]`
        2 * precision * recall / (precision + recall); `None` if one of them is.
    """

    undecided: float
    precision: Optional[float]
    recall: Optional[float]
    f1: Optional[float]


def precision_threshold(
    probs: DoubleArray,
    labels: IntArray,
    precision: float,
    positive: Optional[int] = None,
) -> Optional[float]:
    """Return the smallest probability at which the predicted label is correct often enough.

    `precision` is the required share of correct predictions among the examples whose predicted
    label has at least the returned probability. The result is 0 if all examples together reach the
    precision, and `None` if no threshold does. `probs` (N, K) and the labels' indices `labels` (N,)
    belong to the same examples. With `positive`, only examples with this predicted label count.
    """
    predicted = probs.argmax(-1)
    confidences = probs.max(-1)
    counted = numpy.full(len(labels), True)
    if positive is not None:
        counted = predicted == positive
    is_correct = (predicted == labels)[counted]
    if not is_correct.any():
        return None
    curve = Curve.of(confidences[counted], is_correct, numpy.ones(len(is_correct)))
    reached = numpy.flatnonzero(curve.precision >= precision)
    if not len(reached):
        return None
    following = reached[-1] + 1
    if following == len(curve.scores):
        return 0.0
    lower = curve.scores[following]
    # Other labels' examples may have a confidence between this score and the next.
    return simplest_number(float(lower), float(confidences[confidences > lower].min()))


def decide(
    probs: DoubleArray,
    labels: IntArray,
    threshold: ThresholdSetting,
    names: list[str],
    positive: Optional[str] = None,
) -> Decisions:
    """Apply the threshold of a `ClassificationPredictor` to labeled examples.

    `probs` (N, K) has a column for each of the `names`, and `labels` (N,) their indices.
    """
    rule = LabelThreshold(threshold, names)
    chosen = [rule.choose(dict(zip(names, row))) for row in probs.tolist()]
    predicted = numpy.array([-1 if name is None else names.index(name) for name in chosen])
    undecided = predicted == -1
    if positive is None:
        given = ~undecided
        gold = labels >= 0
    else:
        given = predicted == names.index(positive)
        gold = labels == names.index(positive)
    right = given & (predicted == labels)
    precision = _share(right, given)
    recall = _share(right, gold)
    f1 = None
    if precision is not None and recall is not None:
        f1 = 2 * float(right.sum() / (given.sum() + gold.sum()))
    return Decisions(float(undecided.mean()), precision, recall, f1)


def _share(part: BoolArray, whole: BoolArray) -> Optional[float]:
    """Return the share of the examples `whole` (N,) that are also in `part` (N,), if any is."""
    return float(part.sum() / whole.sum()) if whole.any() else None
