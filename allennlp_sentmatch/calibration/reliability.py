"""Reliability of probabilities: how well they agree with frequencies, and diagrams of this."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from sklearn.metrics import log_loss

from allennlp_sentmatch.array_types import DoubleArray, IntArray
from allennlp_sentmatch.inspection.drawing import Drawing, figure_drawing, new_figure

NUM_BINS = 15


@dataclass(frozen=True)
class Bin:
    """Examples whose confidence, the predicted label's probability, is in (lower, upper].

    `confidence` is the mean, and `accuracy` the share of correct predictions; both are 0 if the bin
    is empty.
    """

    lower: float
    upper: float
    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Reliability:
    """Measures of probabilities, over some examples.

    # Attributes

    expected_calibration_error : `float`
        The mean absolute difference of accuracy and confidence over `bins`, weighted by their
        counts (Naeini et al. 2015; Guo et al. 2017, https://arxiv.org/abs/1706.04599, eq. 3).
    adaptive_calibration_error : `float`
        The same error, with 15 bins that have equally many examples.
    negative_log_likelihood : `float`
        The mean of -log p(label), in nats.
    brier_score : `float`
        The mean of sum_k (p_k - [k is the label])^2 (Brier 1950), between 0 and 2. For two labels,
        it is twice scikit-learn's score.
    bins : `list[Bin]`
        15 bins of equal width.
    """

    expected_calibration_error: float
    adaptive_calibration_error: float
    negative_log_likelihood: float
    brier_score: float
    bins: list[Bin]


def measure_reliability(probs: DoubleArray, labels: IntArray) -> Reliability:
    """Measure the reliability of probabilities (N, K), N > 0, given the labels' indices (N,).

    If the examples cannot be divided evenly into bins of equal counts, the first bins have one more
    (Nguyen and O'Connor 2015, https://aclanthology.org/D15-1182).
    """
    confidences = probs.max(-1)
    correct = probs.argmax(-1) == labels
    difference = confidences - correct
    edges = numpy.linspace(0, 1, NUM_BINS + 1)
    indices = numpy.searchsorted(edges[1:-1], confidences)
    equal_widths = [numpy.flatnonzero(indices == index) for index in range(NUM_BINS)]
    equal_counts = numpy.array_split(numpy.argsort(confidences, kind="stable"), NUM_BINS)
    one_hot = numpy.eye(probs.shape[1])[labels]
    bins = [
        Bin(float(lower), float(upper), len(part), _mean(confidences[part]), _mean(correct[part]))
        for lower, upper, part in zip(edges, edges[1:], equal_widths)
    ]
    return Reliability(
        expected_calibration_error=_calibration_error(difference, equal_widths),
        adaptive_calibration_error=_calibration_error(difference, equal_counts),
        negative_log_likelihood=float(log_loss(labels, probs, labels=range(probs.shape[1]))),
        brier_score=float(numpy.square(probs - one_hot).sum(-1).mean()),
        bins=bins,
    )


def _mean(values: numpy.ndarray[Any, Any]) -> float:
    return float(values.mean()) if len(values) else 0.0


def _calibration_error(difference: DoubleArray, parts: Sequence[IntArray]) -> float:
    """Return the mean absolute difference (N,) of confidence and accuracy over parts of it."""
    return float(sum(abs(difference[part].sum()) for part in parts) / len(difference))


def draw_reliability(title: str, panels: Mapping[str, Reliability]) -> Drawing:
    """Draw the accuracy in each bin of confidence, with the bin's number of examples below it.

    Each caption has a panel, in which a bin's bar is as high as its accuracy, and a dot at its mean
    confidence (Niculescu-Mizil and Caruana 2005; Guo et al. 2017, figure 1). Raise
    `ConfigurationError` without the extra [plots].
    """
    figure = new_figure(3.6 * len(panels), 4.4)
    all_axes = figure.subplots(
        2,
        len(panels),
        squeeze=False,
        sharex=True,
        sharey="row",
        gridspec_kw={"height_ratios": (3, 1)},
    )
    for (caption, reliability), axes in zip(panels.items(), all_axes.T):
        error = reliability.expected_calibration_error
        axes[0].set_title(f"{caption}: ECE {100 * error:.1f} %", fontsize="medium")
        _draw_bins([bin for bin in reliability.bins if bin.count], *axes)
    all_axes[0, 0].set_ylabel("accuracy")
    all_axes[0, 0].legend(loc="upper left", fontsize="small")
    all_axes[1, 0].set_ylabel("share")
    return figure_drawing(title, figure)


def _draw_bins(bins: Sequence[Bin], accuracy_axes: Any, share_axes: Any) -> None:
    total = sum(bin.count for bin in bins)
    lowers = [bin.lower for bin in bins]
    bars: dict[str, Any] = {
        "width": [bin.upper - bin.lower for bin in bins],
        "align": "edge",
        "edgecolor": "white",
    }
    accuracy_axes.plot((0, 1), (0, 1), color="gray", linestyle="--", linewidth=1)
    accuracy_axes.bar(lowers, [bin.accuracy for bin in bins], label="accuracy", **bars)
    means = [bin.confidence for bin in bins]
    accuracy_axes.plot(means, means, "o", color="darkorange", markersize=4, label="confidence")
    accuracy_axes.set(xlim=(0, 1), ylim=(0, 1))
    share_axes.bar(lowers, [bin.count / total for bin in bins], **bars)
    share_axes.set(xlabel="probability of the predicted label")
