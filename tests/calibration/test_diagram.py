"""Reliability diagrams."""

import re

import numpy
import pytest

pytest.importorskip("matplotlib")

from allennlp_sentmatch.calibration.diagram import draw_reliability
from allennlp_sentmatch.calibration.reliability import measure_reliability


def measured(confidence):
    """Of 20 examples with one confidence, 15 of which are right."""
    labels = numpy.array([0] * 15 + [1] * 5)
    return measure_reliability(numpy.tile([confidence, 1 - confidence], (20, 1)), labels)


def test_a_panel_for_each():
    panels = {"before": measured(0.95), "after": measured(0.75)}
    drawing = draw_reliability("Reliability <diagram>", panels)
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", drawing.content)
    assert "before: ECE 20.0 %" in texts
    assert "after: ECE 0.0 %" in texts
    assert texts.count("probability of the predicted label") == 2
    assert "<title>Reliability &lt;diagram&gt;</title>" in drawing.content


def test_bars_are_as_high_as_the_accuracy(monkeypatch):
    from allennlp_sentmatch.calibration import diagram

    figures = []
    draw = diagram.figure_drawing
    monkeypatch.setattr(
        diagram,
        "figure_drawing",
        lambda title, figure: figures.append(figure) or draw(title, figure),
    )
    draw_reliability("Reliability", {"before": measured(0.95)})
    accuracy_axes, share_axes = figures[0].axes
    (bar,) = accuracy_axes.patches
    assert (bar.get_x(), bar.get_height()) == pytest.approx((14 / 15, 0.75))
    assert [bar.get_height() for bar in share_axes.patches] == [1.0]
    *_, confidence = accuracy_axes.lines
    assert list(confidence.get_xdata()) == list(confidence.get_ydata()) == pytest.approx([0.95])
