"""The figures of word coverage against their definition, word by word."""

import math

import pytest
import torch

from allennlp_sentmatch.nn.word_coverage import word_coverage


def cosine(x, y):
    lengths = math.hypot(*x) * math.hypot(*y)
    dot = sum(a * b for a, b in zip(x, y))
    return dot / lengths if lengths else 0.0


def one_side(words, others):
    """Return the share and the largest lack, for lists of vectors."""
    total = 0.0
    total_covered = 0.0
    largest_lack = 0.0
    for word in words:
        length = math.hypot(*word)
        covered = max(0.0, *(cosine(word, other) for other in others))
        total += length
        total_covered += length * covered
        largest_lack = max(largest_lack, length * (1 - covered))
    share = total_covered / total if total else 0.0
    return share, largest_lack


def with_padding(words, sizes):
    """Return words (B, T, D) with NaN after the given numbers of words, and their mask."""
    mask = torch.arange(words.size(1)) < torch.tensor(sizes)[:, None]
    return words.masked_fill(~mask[..., None], torch.nan), mask


def test_the_figures_are_those_of_the_definition():
    """One word has the length zero."""
    generator = torch.Generator().manual_seed(1)
    first = torch.randn(6, 5, 3, generator=generator, dtype=torch.float64)
    second = torch.randn(6, 4, 3, generator=generator, dtype=torch.float64)
    first[0, 0] = 0
    second[1, 1] = 0
    second[2] = -first[2, :1].abs() - first[2, :4].abs()  # many negative cosines
    sizes1 = [5, 4, 3, 2, 1, 5]
    sizes2 = [1, 4, 2, 3, 4, 1]
    padded1, mask1 = with_padding(first, sizes1)
    padded2, mask2 = with_padding(second, sizes2)
    found = word_coverage(padded1, padded2, mask1, mask2)
    for row, size1, size2 in zip(range(6), sizes1, sizes2):
        x = first[row, :size1].tolist()
        y = second[row, :size2].tolist()
        share1, lack1 = one_side(x, y)
        share2, lack2 = one_side(y, x)
        expected = [share1, share2, lack1, lack2]
        assert found[row].tolist() == pytest.approx(expected, abs=1e-12)


TWO_WORDS = torch.ones(1, 2, dtype=torch.bool)


def figures(first, second):
    """Return the figures of a pair of two words each."""
    (found,) = word_coverage(first, second, TWO_WORDS, TWO_WORDS)
    return found


def test_words_without_weight():
    found = figures(torch.zeros(1, 2, 3), torch.ones(1, 2, 3))
    assert found.tolist() == pytest.approx([0, 0, 0, math.sqrt(3)])


def test_words_with_opposite_vectors():
    """There is no padding, whose cosine would be 0."""
    words = torch.ones(1, 2, 1)
    assert figures(words, -words).tolist() == [0, 0, 1, 1]


def test_half_precision_is_computed_in_float32():
    words = torch.ones(1, 2, 3, dtype=torch.bfloat16)
    assert figures(words, words).dtype == torch.float32


def test_rounding_covers_no_word_more_than_wholly():
    words = torch.randn(50, 3, 20, generator=torch.Generator().manual_seed(1))
    mask = torch.ones(50, 3, dtype=torch.bool)
    shares, lacks = word_coverage(words, words, mask, mask).split(2, dim=1)
    assert (shares <= 1).all()
    assert (lacks >= 0).all()
