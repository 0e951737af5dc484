"""Drawings have the words as text, in their order, and trees have a node for each merge."""

import re
import sys
from html import unescape

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.inspection import draw_attention, draw_tree
from allennlp_sentmatch.inspection.drawing import HTML, draw_marked_text
from allennlp_sentmatch.predictors.echoing_predictor import MarkedText

pytest.importorskip("seaborn")
pytest.importorskip("svgling")

TEXT = 'A <b> fox\n"slept" .'
OFFSETS = [
    (0, 1),
    (2, 5),
    (6, 9),
    (10, 11),
    (11, 16),
    (16, 17),
    (18, 19),
]


@pytest.mark.parametrize(
    ("library", "draw"),
    [
        ("seaborn", lambda: draw_attention("Attention", [[1.0]], ["a"], ["b"])),
        ("svgling", lambda: draw_tree("Tree", "(a b)")),
    ],
)
def test_without_the_libraries_the_extra_is_named(monkeypatch, library, draw):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ConfigurationError, match=r"the extra \[plots\]: pip install"):
        draw()


def labels(svg):
    return re.findall(r"<text[^>]*>([^<]+)</text>", svg)


def test_the_words_label_the_axes():
    drawing = draw_attention("Attention", [[0.25, 0.75]], ["row"], ["$5", "<b>"])
    found = labels(drawing.content)
    assert {"row", "$5", "&lt;b&gt;"} <= set(found)
    assert set(labels(draw_attention("", [[1.0]], ["x" * 100], ["y"]).content)) >= {"x" * 39 + "…"}
    assert "<title>Attention</title>" in drawing.content


def words(svg):
    """The words of a picture, from left to right; inner nodes are bullets."""
    positions = re.findall(r'<svg[^>]* x="([\d.]+)(?:%|px)?"', svg)
    assert positions
    return [word for word in re.findall(r"<text[^>]*>([^<]*)</text>", svg) if word != "•"]


def test_a_tree_shows_its_words_in_order_under_one_node_for_each_merge():
    drawing = draw_tree("Tree", "((the cat) ((sat down) .))")
    assert words(drawing.content) == ["the", "cat", "sat", "down", "."]
    assert drawing.content.count(">•<") == 4
    assert drawing.content.count("<line") == 8  # from each node to its two parts
    assert "<title>Tree</title>" in drawing.content
    assert drawing.file_name == "tree.svg"


@pytest.mark.parametrize("tree", ["word", "((a & b) <c>)", "((a \\) (b\u00a0c [S))", "(\\ \\)"])
def test_words_are_text_and_no_markup(tree):
    svg = draw_tree("Tree", tree).content
    assert [*map(unescape, words(svg))] == re.findall("[^ ()]+", tree)


def opacities(html):
    return [float(found) for found in re.findall(r"rgba\(255, 140, 0, ([\d.]+)\)", html)]


def test_the_text_is_as_it_was_written_and_the_span_is_marked():
    weights = [0.0, 0.1, 0.4, 0.2, 0.1, 0.1, 0.1]
    drawing = draw_marked_text(MarkedText("Answer", TEXT, OFFSETS, weights, (2, 4)))
    assert drawing.title == "Answer"
    assert drawing.media_type == HTML
    assert "<b>" not in drawing.content
    without_spans = re.sub(r"</?(span|p)\b[^>]*>", "", drawing.content)
    without_styles = re.sub(r' style="[^"]*"', "", without_spans)
    assert without_styles == ("A &lt;b&gt; <mark>fox<br>&quot;slept</mark>&quot; .")
    found = opacities(drawing.content)
    assert found == [0.0, 0.15, 0.6, 0.3, 0.15, 0.15, 0.15]
