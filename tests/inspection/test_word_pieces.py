"""Pieces are joined into words, and their values added or averaged."""

import pytest
import torch
from allennlp.data import Token

from allennlp_sentmatch.inspection.word_pieces import (
    join_subwords,
    join_word_pieces,
    sum_over_words,
)
from allennlp_sentmatch.predictors.echoing_predictor import AttentionMap


def piece(text, idx=None, idx_end=None):
    return Token(text, idx=idx, idx_end=idx_end, text_id=1)


def test_pieces_become_words_without_special_tokens():
    tokens = [
        piece("[CLS]"),
        piece("un", 0, 2),
        piece("##happy", 2, 7),
        piece("!", 7, 8),
    ]
    tokens += [piece("dogs", 9, 13), piece("[SEP]")]
    words, values = join_word_pieces(tokens, [1.0, 2.0, -0.5, 4.0, 5.0, 6.0])
    assert words == ["unhappy", "!", "dogs"]
    assert values == [1.5, 4.0, 5.0]


def test_other_ways_to_write_a_space():
    for space in "▁Ġ":
        tokens = [
            piece("un", 0, 2),
            piece("happy", 2, 7),
            piece(f"{space}dogs", 8, 12),
        ]
        assert join_word_pieces(tokens, [1.0, 2.0, 4.0]) == (["unhappy", "dogs"], [3.0, 4.0])


def test_words_stay_as_they_are():
    tokens = [
        Token("##a", 0, 3),
        Token("b", 3, 4),
        Token("[CLS]"),
    ]
    assert join_word_pieces(tokens, [1.0, 2.0, 3.0]) == (["##a", "b", "[CLS]"], [1.0, 2.0, 3.0])


def test_values_of_pieces_are_added_by_word():
    tensors = {"tokens": {"offsets": torch.tensor([[[1, 1], [2, 4], [-1, -1]]])}}
    values = torch.tensor([100.0, 1.0, 2.0, 3.0, 4.0, 100.0])
    assert sum_over_words(values, tensors).tolist() == [1, 9, 0]
    tensors = {"tokens": {"num_parts": torch.tensor([[1, 3, 2]])}}
    assert sum_over_words(values, tensors).tolist() == [100, 6, 104]
    assert sum_over_words(values, {"tokens": {"tokens": torch.zeros(1, 6)}}) is values


def test_sums_over_the_words_attended_to_and_means_over_those_that_attend():
    """Two words of two subwords each, and a last row of the end symbol."""
    weights = [
        [0.1, 0.2, 0.7],
        [0.5, 0.4, 0.1],
        [0.0, 0.25, 0.75],
        [0.25, 0.25, 0.5],
    ]
    rows = ["ska", "tes</w>", "￭.</w>", "@end@"]  # with the mark of a missing space
    columns = ["Schlitt", "schuh</w>", ".</w>"]
    joined = join_subwords(AttentionMap("Alignment", weights, rows, columns))
    assert joined.title == "Alignment"
    assert joined.rows == ["skates", ".", "@end@"]
    assert joined.columns == ["Schlittschuh", "."]
    for row, expected in zip(joined.weights, ([0.6, 0.4], [0.25, 0.75], [0.5, 0.5])):
        assert row == pytest.approx(expected)


def test_a_special_token_is_a_word_in_any_place():
    """An unknown character inside a word, and a translation that ends inside one."""
    tokens = ["ca", "@@UNKNOWN@@", "t</w>", "do"]
    joined = join_subwords(AttentionMap("", [[0.1, 0.2, 0.3, 0.4]] * 4, tokens, tokens))
    assert joined.rows == ["ca", "@@UNKNOWN@@", "t", "do"]
    assert joined.columns == ["ca", "@@UNKNOWN@@", "t", "do"]
