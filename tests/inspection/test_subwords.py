"""Attention between words, from that between their subwords."""

import pytest

from allennlp_sentmatch.inspection.subwords import join_subwords
from allennlp_sentmatch.predictors.attention_map import AttentionMap


def test_sums_over_the_words_attended_to_and_means_over_those_that_attend():
    """Two words of two subwords each, and a last row of the end symbol."""
    attention = AttentionMap(
        "Alignment",
        [
            [0.1, 0.2, 0.7],
            [0.3, 0.4, 0.3],
            [0.0, 0.5, 0.5],
            [0.25, 0.25, 0.5],
        ],
        ["ska", "tes</w>", ".</w>", "@end@"],
        ["Schlitt", "schuh</w>", ".</w>"],
    )
    joined = join_subwords(attention)
    assert (joined.title, joined.rows, joined.columns) == (
        "Alignment",
        ["skates", ".", "@end@"],
        ["Schlittschuh", "."],
    )
    for row, expected in zip(joined.weights, ([0.5, 0.5], [0.5, 0.5], [0.5, 0.5])):
        assert row == pytest.approx(expected)


def test_each_weight_goes_to_its_word():
    attention = AttentionMap(
        "", [[0.6, 0.1, 0.3], [0.2, 0.3, 0.5]], ["a</w>", "b</w>"], ["x", "y</w>", "z</w>"]
    )
    first, second = join_subwords(attention).weights
    assert first == pytest.approx([0.7, 0.3])
    assert second == pytest.approx([0.5, 0.5])


def test_a_special_token_is_a_word_in_any_place():
    """An unknown character inside a word, and a translation that ends inside one."""
    tokens = ["ca", "@@UNKNOWN@@", "t</w>", "do"]
    joined = join_subwords(AttentionMap("", [[0.1, 0.2, 0.3, 0.4]] * 4, tokens, tokens))
    assert joined.rows == joined.columns == ["ca", "@@UNKNOWN@@", "t", "do"]


def test_words_of_other_tokenizers_stay():
    attention = AttentionMap("Attention", [[0.5, 0.5]], [""], ["a", "b"])
    assert join_subwords(attention) is attention
