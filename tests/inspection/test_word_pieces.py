"""Word pieces as words."""

import torch
from allennlp.data import Token

from allennlp_sentmatch.inspection.word_pieces import join_word_pieces, sum_over_words


def piece(text, idx=None, idx_end=None):
    return Token(text, idx=idx, idx_end=idx_end, text_id=1)


def test_pieces_become_words_without_special_tokens():
    tokens = [piece("[CLS]"), piece("un", 0, 2), piece("##happy", 2, 7), piece("!", 7, 8)]
    tokens += [piece("dogs", 9, 13), piece("[SEP]")]
    words, values = join_word_pieces(tokens, [1.0, 2.0, -0.5, 4.0, 5.0, 6.0])
    assert words == ["unhappy", "!", "dogs"]
    assert values == [1.5, 4.0, 5.0]


def test_other_ways_to_write_a_space():
    for space in "▁Ġ":
        tokens = [piece("un", 0, 2), piece("happy", 2, 7), piece(f"{space}dogs", 8, 12)]
        assert join_word_pieces(tokens, [1.0, 2.0, 4.0]) == (["unhappy", "dogs"], [3.0, 4.0])


def test_words_stay_as_they_are():
    tokens = [Token("##a", 0, 3), Token("b", 3, 4), Token("[CLS]")]
    assert join_word_pieces(tokens, [1.0, 2.0, 3.0]) == (["##a", "b", "[CLS]"], [1.0, 2.0, 3.0])


def test_values_of_pieces_are_added_by_offsets():
    tensors = {"tokens": {"offsets": torch.tensor([[[1, 1], [2, 4], [-1, -1]]])}}
    values = torch.tensor([100.0, 1.0, 2.0, 3.0, 4.0, 100.0])
    assert sum_over_words(values, tensors).tolist() == [1, 9, 0]
    assert sum_over_words(values, {"tokens": {"tokens": torch.zeros(1, 6)}}) is values
