"""The figures of word coverage against their definition, word by word."""

import math

import pytest
import torch

from allennlp_sentmatch.nn.word_coverage import word_coverage


def cosine(x, y):
    lengths = math.hypot(*x) * math.hypot(*y)
    return sum(a * b for a, b in zip(x, y)) / lengths if lengths else 0.0


def one_side(words, others):
    """The share and the largest lack, for lists of vectors."""
    covered = [max(0.0, *(cosine(word, other) for other in others)) for word in words]
    lengths = [math.hypot(*word) for word in words]
    total = sum(lengths)
    share = sum(n * c for n, c in zip(lengths, covered)) / total if total else 0.0
    return share, max(n * (1 - c) for n, c in zip(lengths, covered))


def test_the_figures_are_those_of_the_definition():
    """The padding is NaN, and one word has the length zero."""
    generator = torch.Generator().manual_seed(1)
    first, second = (
        torch.randn(6, size, 3, generator=generator, dtype=torch.float64) for size in (5, 4)
    )
    first[0, 0] = second[1, 1] = 0
    second[2] = -first[2, :1].abs() - first[2, :4].abs()  # many negative cosines
    sizes1 = [5, 4, 3, 2, 1, 5]
    sizes2 = [1, 4, 2, 3, 4, 1]
    mask1, mask2 = (
        torch.arange(words.size(1)) < torch.tensor(sizes)[:, None]
        for words, sizes in ((first, sizes1), (second, sizes2))
    )
    padded = [
        words.masked_fill(~m[..., None], torch.nan)
        for words, m in ((first, mask1), (second, mask2))
    ]
    found = word_coverage(*padded, mask1, mask2)
    for row, x, y, n, m in zip(found, first.tolist(), second.tolist(), sizes1, sizes2):
        share1, lacks1 = one_side(x[:n], y[:m])
        share2, lacks2 = one_side(y[:m], x[:n])
        assert row.tolist() == pytest.approx([share1, share2, lacks1, lacks2], abs=1e-12)


def test_words_without_weight_or_with_opposite_vectors():
    words = torch.zeros(1, 2, 3)
    mask = torch.ones(1, 2, dtype=torch.bool)
    assert word_coverage(words, torch.ones(1, 2, 3), mask, mask).tolist()[0] == pytest.approx(
        [0, 0, 0, math.sqrt(3)]
    )
    opposite = torch.ones(1, 2, 1)  # without padding, whose cosine is 0
    assert word_coverage(opposite, -opposite, mask, mask).tolist()[0] == [0, 0, 1, 1]
    half = torch.ones(1, 2, 3, dtype=torch.bfloat16)
    assert word_coverage(half, half, mask, mask).dtype == torch.float32
