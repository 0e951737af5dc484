"""Measures of calibration, against their definitions and scikit-learn, and their diagrams."""

import re
from unittest import mock

import numpy
import pytest
from sklearn.calibration import calibration_curve

from allennlp_sentmatch.calibration import reliability
from allennlp_sentmatch.calibration.reliability import draw_reliability, measure_reliability


@pytest.fixture
def predictions():
    """Return probabilities of 3 labels and gold labels, of 500 examples."""
    generator = numpy.random.default_rng(0)
    probs = generator.dirichlet([0.5, 0.5, 0.5], size=500)
    return probs, generator.integers(3, size=500)


def test_likelihood_and_brier_score(predictions):
    probs, labels = predictions
    measured = measure_reliability(probs, labels)
    of_labels = probs[range(500), labels]
    assert measured.negative_log_likelihood == pytest.approx(-numpy.log(of_labels).mean())
    squares = (probs - numpy.eye(3)[labels]) ** 2
    assert measured.brier_score == pytest.approx(squares.sum(axis=1).mean())


def calibration_error(confidences, is_right):
    """Return the error of a bin, multiplied by the number of its examples."""
    return abs((is_right - confidences).sum())


def test_the_expected_calibration_error_is_over_bins_of_equal_width(predictions):
    probs, labels = predictions
    confidences = probs.max(axis=1)
    is_right = probs.argmax(axis=1) == labels
    counts = []
    total = 0.0
    for i in range(15):
        inside = (confidences > i / 15) & (confidences <= (i + 1) / 15)
        counts.append(inside.sum())
        total += calibration_error(confidences[inside], is_right[inside])
    measured = measure_reliability(probs, labels)
    assert measured.expected_calibration_error == pytest.approx(total / 500)
    assert [bin.count for bin in measured.bins] == counts


def test_the_adaptive_calibration_error_is_over_bins_of_equal_counts(predictions):
    """500 examples are 5 * 34 + 10 * 33."""
    probs, labels = predictions
    confidences = probs.max(axis=1)
    is_right = probs.argmax(axis=1) == labels
    total = 0.0
    for inside in numpy.array_split(numpy.argsort(confidences), 15):
        total += calibration_error(confidences[inside], is_right[inside])
    measured = measure_reliability(probs, labels)
    assert measured.adaptive_calibration_error == pytest.approx(total / 500)


def test_accuracies_and_confidences_are_scikit_learn_s(predictions):
    probs, labels = predictions
    is_right = probs.argmax(axis=1) == labels
    accuracies, confidences = calibration_curve(is_right, probs.max(axis=1), n_bins=15)
    bins = [bin for bin in measure_reliability(probs, labels).bins if bin.count]
    assert [bin.accuracy for bin in bins] == pytest.approx(accuracies.tolist())
    assert [bin.confidence for bin in bins] == pytest.approx(confidences.tolist())


def test_fewer_examples_than_bins():
    """A confidence on an edge belongs to the bin below it, and empty bins have zeros."""
    confidences = numpy.array([0.6, 0.7, 1.0])
    probs = numpy.stack([confidences, 1 - confidences], 1)
    measured = measure_reliability(probs, numpy.array([0, 1, 0]))
    counts = {round(15 * bin.upper): bin.count for bin in measured.bins if bin.count}
    assert counts == {9: 1, 11: 1, 15: 1}
    expected = pytest.approx((0.4 + 0.7 + 0) / 3)
    assert measured.adaptive_calibration_error == expected
    assert measured.expected_calibration_error == expected
    empty = measured.bins[0]
    assert empty.lower == 0
    assert empty.upper == pytest.approx(1 / 15)
    assert empty.count == 0
    assert empty.confidence == 0.0
    assert empty.accuracy == 0.0


def test_a_label_that_no_example_has_counts(predictions):
    probs, _ = predictions
    measured = measure_reliability(probs, numpy.zeros(len(probs), dtype=int))
    expected = -numpy.log(probs[:, 0]).mean()
    assert measured.negative_log_likelihood == pytest.approx(expected)


def measured(confidence):
    """15 of 20 examples with the same confidence are right."""
    labels = numpy.array([0] * 15 + [1] * 5)
    return measure_reliability(numpy.tile([confidence, 1 - confidence], (20, 1)), labels)


def test_a_diagram_has_a_panel_for_each_with_bars_as_high_as_the_accuracy(monkeypatch):
    pytest.importorskip("matplotlib")
    draw = mock.Mock(wraps=reliability.figure_drawing)
    monkeypatch.setattr(reliability, "figure_drawing", draw)
    panels = {"before": measured(0.95), "after": measured(0.75)}
    drawing = draw_reliability("Reliability <diagram>", panels)
    assert "<title>Reliability &lt;diagram&gt;</title>" in drawing.content
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", drawing.content)
    assert "before: ECE 20.0 %" in texts
    assert "after: ECE 0.0 %" in texts
    assert texts.count("probability of the predicted label") == 2
    _, figure = draw.call_args.args
    accuracy_axes, _, share_axes, _ = figure.axes
    (bar,) = accuracy_axes.patches
    assert bar.get_x() == pytest.approx(14 / 15)
    assert bar.get_height() == pytest.approx(0.75)
    assert [bar.get_height() for bar in share_axes.patches] == [1.0]
    *_, confidence = accuracy_axes.lines
    assert list(confidence.get_xdata()) == pytest.approx([0.95])
    assert list(confidence.get_ydata()) == pytest.approx([0.95])
