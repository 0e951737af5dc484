"""Measures of calibration, against their definitions and scikit-learn."""

import math

import numpy
import pytest
from sklearn.calibration import calibration_curve

from allennlp_sentmatch.calibration.reliability import (
    Bin,
    calibration_error,
    equal_mass_bins,
    equal_width_bins,
    measure_reliability,
)

CONFIDENCES = numpy.array([0.5, 0.6, 0.75, 0.8, 1.0])
CORRECT = numpy.array([1, 0, 1, 0, 1])


@pytest.fixture
def predictions():
    """Probabilities of 3 labels and gold labels, of 500 examples."""
    generator = numpy.random.default_rng(0)
    probs = generator.dirichlet([0.5, 0.5, 0.5], size=500)
    return probs, generator.integers(3, size=500)


def test_bins_of_equal_width():
    """Quarters; a confidence on an edge is in the bin below it."""
    empty = Bin(0.0, 0.25, 0, 0.0, 0.0)
    second, third = Bin(0.25, 0.5, 1, 0.5, 1.0), Bin(0.5, 0.75, 2, 0.675, 0.5)
    fourth = Bin(0.75, 1.0, 2, 0.9, 0.5)
    assert equal_width_bins(CONFIDENCES, CORRECT, 4) == [empty, second, third, fourth]
    expected = (1 * 0.5 + 2 * 0.175 + 2 * 0.4) / 5
    assert calibration_error([empty, second, third, fourth]) == pytest.approx(expected)


def test_bins_of_equal_counts():
    """Five examples in two bins; their order in the data does not matter."""
    order = [3, 0, 4, 2, 1]
    first, second = equal_mass_bins(CONFIDENCES[order], CORRECT[order], 2)
    assert (first.lower, first.upper, first.count) == (0.0, 0.75, 3)
    assert (second.lower, second.upper, second.count) == (0.75, 1.0, 2)
    assert first.confidence == pytest.approx(1.85 / 3)
    assert first.accuracy == pytest.approx(2 / 3)
    assert (second.confidence, second.accuracy) == pytest.approx((0.9, 0.5))


def test_fewer_examples_than_bins():
    bins = equal_mass_bins(CONFIDENCES, CORRECT, 15)
    assert [bin.count for bin in bins] == [1] * 5 + [0] * 10
    assert calibration_error(bins) == pytest.approx((0.5 + 0.6 + 0.25 + 0.8 + 0) / 5)


@pytest.mark.parametrize(
    ("strategy", "make_bins"), [("uniform", equal_width_bins), ("quantile", equal_mass_bins)]
)
def test_bins_agree_with_scikit_learn(predictions, strategy, make_bins):
    probs, labels = predictions
    correct = probs.argmax(-1) == labels
    accuracies, confidences = calibration_curve(
        correct, probs.max(-1), n_bins=10, strategy=strategy
    )
    bins = [bin for bin in make_bins(probs.max(-1), correct, 10) if bin.count]
    assert [bin.accuracy for bin in bins] == pytest.approx(list(accuracies))
    assert [bin.confidence for bin in bins] == pytest.approx(list(confidences))


def test_measures_of_three_labels(predictions):
    probs, labels = predictions
    measured = measure_reliability(probs, labels)
    rows = list(zip(probs.tolist(), labels.tolist()))
    likelihood = sum(math.log(row[label]) for row, label in rows) / len(rows)
    assert measured.negative_log_likelihood == pytest.approx(-likelihood)
    brier = sum((p - (k == label)) ** 2 for row, label in rows for k, p in enumerate(row))
    assert measured.brier_score == pytest.approx(brier / len(rows))
    assert len(measured.bins) == 15
    assert sum(bin.count for bin in measured.bins) == len(rows)
    error = 0.0
    for number in range(15):
        inside = [(r, label) for r, label in rows if number / 15 < max(r) <= (number + 1) / 15]
        error += abs(sum((r.index(max(r)) == label) - max(r) for r, label in inside))
    assert measured.expected_calibration_error == pytest.approx(error / len(rows))


def test_a_label_that_no_example_has_counts(predictions):
    probs, _ = predictions
    labels = numpy.zeros(len(probs), dtype=int)
    measured = measure_reliability(probs, labels)
    expected = -numpy.log(probs[:, 0]).mean()
    assert measured.negative_log_likelihood == pytest.approx(expected)
