"""Trees as pictures."""

import re

import pytest

from allennlp_sentmatch.inspection import draw_tree, draw_trees

pytest.importorskip("svgling")


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


@pytest.mark.parametrize("tree", ["word", "((a & b) <c>)"])
def test_words_are_text_and_no_markup(tree):
    svg = draw_tree("Tree", tree).content
    assert "<c>" not in svg
    assert len(words(svg)) in (1, 4)


def test_trees_of_two_models_are_drawn_side_by_side():
    svg = draw_trees("Trees", {"first": "(a (b c))", "second": "((a b) c)"}).content
    assert words(svg).count("b") == 2
    assert {"first", "second"} <= set(words(svg))
