"""The scores of a few comparisons against their equation."""

import numpy
import pytest
import torch
from sklearn.metrics.pairwise import paired_cosine_distances

from allennlp_sentmatch.nn.pair_comparison import PairComparison, prefix_sizes

SIZE = 20  # with a cosine of the first 16 elements
NUM_LABELS = 3
NUM_WORDS = 2


def inputs(num_pairs: int = 4) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Vectors of both texts, and features of words."""
    generator = torch.Generator().manual_seed(1)
    sizes = (SIZE, SIZE, NUM_WORDS)
    drawn = [
        torch.randn(num_pairs, size, dtype=torch.float64, generator=generator) for size in sizes
    ]
    return drawn[0], drawn[1], drawn[2]


def trained(**settings: int) -> PairComparison:
    """A module in float64 whose weights are not zero."""
    torch.manual_seed(0)
    module = PairComparison(SIZE, NUM_LABELS, **settings).double()
    torch.nn.init.normal_(module.output.weight)
    return module


def test_equation():
    module = trained(num_word_features=NUM_WORDS)
    a, b, words = inputs()
    cosines = [1 - paired_cosine_distances(a[:, :size], b[:, :size]) for size in (SIZE, 16)]
    compared = numpy.column_stack([*cosines, words])
    deviation = numpy.sqrt(compared.var(axis=0) + module.normalization.eps)
    normalized = (compared - compared.mean(axis=0)) / deviation
    weight = module.output.weight.detach().numpy()
    expected = 10 * normalized @ weight.T + module.output.bias.detach().numpy()
    numpy.testing.assert_allclose(module(a, b, words).detach(), expected, atol=1e-12)


def test_a_new_module_gives_all_pairs_the_same_scores():
    a, b, words = inputs()
    scores = PairComparison(SIZE, NUM_LABELS, NUM_WORDS).double()(a, b, words)
    torch.testing.assert_close(scores, scores[:1].expand(4, -1))


def test_without_features_of_words_there_are_the_cosines():
    a, b, _ = inputs()
    module = trained().eval()
    torch.testing.assert_close(module(3 * a, b), module(a, b))
    assert not torch.allclose(module(a, -b), module(a, b))


@pytest.mark.parametrize(
    ("expected", "given", "message"),
    [
        (2, None, r"num_word_features=2, but a pair has 0: let the reader make them"),
        (2, torch.zeros(4, 3), r"num_word_features=2, but a pair has 3: set num_word_features=3$"),
        (0, torch.zeros(4, 3), r"num_word_features=0, but a pair has 3: set num_word_features=3$"),
    ],
)
def test_another_number_of_features_is_refused(expected, given, message):
    a, b, _ = inputs()
    with pytest.raises(ValueError, match=message):
        trained(num_word_features=expected)(a, b, given)


def test_a_negative_number_of_features_is_refused():
    with pytest.raises(ValueError, match="num_word_features must be an integer of at least 0"):
        PairComparison(SIZE, NUM_LABELS, num_word_features=-1)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (1, []),
        (16, []),
        (17, [16]),
        (64, [16, 32]),
        (384, [16, 32, 64, 128, 256]),
    ],
)
def test_cosines_are_of_fewer_dimensions_than_there_are(size, expected):
    assert prefix_sizes(size) == expected
