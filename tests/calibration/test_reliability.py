"""Measures of calibration, against their definitions and scikit-learn, and their diagrams."""

import math
import re

import numpy
import pytest
from sklearn.calibration import calibration_curve

from allennlp_sentmatch.calibration import reliability
from allennlp_sentmatch.calibration.reliability import draw_reliability, measure_reliability


@pytest.fixture
def predictions():
    """Probabilities of 3 labels and gold labels, of 500 examples."""
    generator = numpy.random.default_rng(0)
    probs = generator.dirichlet([0.5, 0.5, 0.5], size=500)
    return probs, generator.integers(3, size=500)


def test_measures_of_three_labels(predictions):
    probs, labels = predictions
    measured = measure_reliability(probs, labels)
    rows = list(zip(probs.tolist(), labels.tolist()))
    likelihood = sum(math.log(row[label]) for row, label in rows) / len(rows)
    assert measured.negative_log_likelihood == pytest.approx(-likelihood)
    brier = sum((p - (k == label)) ** 2 for row, label in rows for k, p in enumerate(row))
    assert measured.brier_score == pytest.approx(brier / len(rows))

    def error(part):
        return abs(sum((row.index(max(row)) == label) - max(row) for row, label in part))

    inside = [[r for r in rows if i / 15 < max(r[0]) <= (i + 1) / 15] for i in range(15)]
    assert measured.expected_calibration_error == pytest.approx(sum(map(error, inside)) / 500)
    rows.sort(key=lambda row: max(row[0]))  # 500 = 5 * 34 + 10 * 33
    starts = [*range(0, 170, 34), *range(170, 501, 33)]
    equal = sum(error(rows[a:b]) for a, b in zip(starts, starts[1:]))
    assert measured.adaptive_calibration_error == pytest.approx(equal / 500)
    assert [bin.count for bin in measured.bins] == list(map(len, inside))
    correct = probs.argmax(-1) == labels
    accuracies, confidences = calibration_curve(correct, probs.max(-1), n_bins=15)
    bins = [bin for bin in measured.bins if bin.count]
    assert [bin.accuracy for bin in bins] == pytest.approx(list(accuracies))
    assert [bin.confidence for bin in bins] == pytest.approx(list(confidences))


def test_fewer_examples_than_bins():
    """A confidence on an edge belongs to the bin below it, and empty bins have zeros."""
    confidences = numpy.array([0.6, 0.7, 1.0])
    measured = measure_reliability(
        numpy.stack([confidences, 1 - confidences], 1), numpy.eye(3, dtype=int)[1]
    )
    counts = {round(15 * bin.upper): bin.count for bin in measured.bins if bin.count}
    assert counts == {9: 1, 11: 1, 15: 1}
    empty = measured.bins[0]
    assert (empty.lower, empty.upper) == (0, pytest.approx(1 / 15))
    assert (empty.count, empty.confidence, empty.accuracy) == (0, 0.0, 0.0)
    expected = pytest.approx((0.4 + 0.7 + 0) / 3)
    assert measured.adaptive_calibration_error == expected
    assert measured.expected_calibration_error == expected


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
    figures = []
    draw = reliability.figure_drawing

    def drawn(title, figure):
        figures.append(figure)
        return draw(title, figure)

    monkeypatch.setattr(reliability, "figure_drawing", drawn)
    panels = {"before": measured(0.95), "after": measured(0.75)}
    drawing = draw_reliability("Reliability <diagram>", panels)
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", drawing.content)
    assert "before: ECE 20.0 %" in texts
    assert "after: ECE 0.0 %" in texts
    assert texts.count("probability of the predicted label") == 2
    assert "<title>Reliability &lt;diagram&gt;</title>" in drawing.content
    accuracy_axes, _, share_axes, _ = figures[0].axes
    (bar,) = accuracy_axes.patches
    assert (bar.get_x(), bar.get_height()) == pytest.approx((14 / 15, 0.75))
    assert [bar.get_height() for bar in share_axes.patches] == [1.0]
    *_, confidence = accuracy_axes.lines
    assert list(confidence.get_xdata()) == list(confidence.get_ydata()) == pytest.approx([0.95])
