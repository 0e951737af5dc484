"""The agreement of probabilities with frequencies."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from sklearn.metrics import log_loss

from allennlp_sentmatch.calibration.temperature import FloatArray, IntArray

NUM_BINS = 15


@dataclass(frozen=True)
class Bin:
    """Examples with similar confidence: the probability of the predicted label.

    # Parameters

    lower, upper : `float`
        The confidence lies in (lower, upper].
    count : `int`
        The number of examples.
    confidence, accuracy : `float`
        Their means; 0 without examples.
    """

    lower: float
    upper: float
    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Reliability:
    """Measures of probabilities, over some examples.

    # Parameters

    expected_calibration_error : `float`
        The mean absolute difference of accuracy and confidence over `bins`, weighted by their
        counts (Naeini et al. 2015; Guo et al. 2017, https://arxiv.org/abs/1706.04599, eq. 3).
    adaptive_calibration_error : `float`
        The same with 15 bins of equally many examples.
    negative_log_likelihood : `float`
        The mean of -log p(label), in nats.
    brier_score : `float`
        The mean of sum_k (p_k - [k is the label])^2 (Brier 1950), between 0 and 2: of two labels,
        twice scikit-learn's.
    bins : `list[Bin]`
        15 bins of equal width.
    """

    expected_calibration_error: float
    adaptive_calibration_error: float
    negative_log_likelihood: float
    brier_score: float
    bins: list[Bin]


def measure_reliability(probs: FloatArray, labels: IntArray) -> Reliability:
    """Measure the reliability of probabilities (N, K), N > 0, given the labels' indices (N,)."""
    confidences = probs.max(-1)
    correct = probs.argmax(-1) == labels
    one_hot = numpy.eye(probs.shape[1])[labels]
    bins = equal_width_bins(confidences, correct)
    return Reliability(
        calibration_error(bins),
        calibration_error(equal_mass_bins(confidences, correct)),
        float(log_loss(labels, probs, labels=range(probs.shape[1]))),
        float(numpy.square(probs - one_hot).sum(-1).mean()),
        bins,
    )


def equal_width_bins(
    confidences: FloatArray, correct: IntArray, num_bins: int = NUM_BINS
) -> list[Bin]:
    """Divide (0, 1] into bins of equal width."""
    edges = numpy.linspace(0, 1, num_bins + 1)
    indices = numpy.searchsorted(edges[1:-1], confidences)
    return [
        _bin(edges[i], edges[i + 1], confidences[indices == i], correct[indices == i])
        for i in range(num_bins)
    ]


def equal_mass_bins(
    confidences: FloatArray, correct: IntArray, num_bins: int = NUM_BINS
) -> list[Bin]:
    """Divide the examples, in the order of their confidence, into bins of equal counts.

    If they cannot be divided evenly, the first bins have one more (Nguyen and O'Connor 2015,
    https://aclanthology.org/D15-1182).
    """
    order = numpy.argsort(confidences, kind="stable")
    bins = []
    lower = 0.0
    for part in numpy.array_split(order, num_bins):
        upper = float(confidences[part[-1]]) if len(part) else lower
        bins.append(_bin(lower, upper, confidences[part], correct[part]))
        lower = upper
    return bins


def calibration_error(bins: Sequence[Bin]) -> float:
    """The mean absolute difference of accuracy and confidence, weighted by the bins' counts."""
    total = sum(bin.count for bin in bins)
    return sum(bin.count * abs(bin.accuracy - bin.confidence) for bin in bins) / total


def _bin(lower: float, upper: float, confidences: FloatArray, correct: IntArray) -> Bin:
    count = len(confidences)
    means = (float(confidences.mean()), float(correct.mean())) if count else (0.0, 0.0)
    return Bin(float(lower), float(upper), count, *means)
