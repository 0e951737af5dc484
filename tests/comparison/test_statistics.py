"""The intervals and tests are those of scipy and of their definitions."""

import math

import numpy
import pytest
from scipy.stats import binomtest, norm, pearsonr

from allennlp_sentmatch.comparison.statistics import (
    compare,
    figure_of,
    holm,
    needed_seeds,
    parted,
    resampled,
)


def interval(higher, lower) -> tuple[float, float]:
    found = compare(higher, lower)
    return found.low, found.high


def digits(text: str) -> numpy.ndarray:
    """Right and wrong answers of one run, (1, items, 1)."""
    return numpy.array([[*text]], dtype=float).reshape(1, -1, 1)


def test_the_bootstrap_is_paired():
    """Equal differences have no spread, however much the items differ."""
    items = numpy.arange(20.0).reshape(1, 20, 1) / 20
    assert interval(items + 0.1, items) == pytest.approx((0.1, 0.1))


def with_true(predicted, true):
    """Return scores with the true ones, (..., items, 2)."""
    return numpy.stack([predicted, true], axis=-1)


def test_the_interval_of_correlations():
    """Fisher's transformation: the standard error of artanh(r) is 1 / sqrt(n - 3)."""
    generator = numpy.random.default_rng(0)
    true = generator.normal(size=(1, 400))
    predicted = 0.8 * true + 0.6 * generator.normal(size=(2, 400))  # two seeds
    r_of_first, _ = pearsonr(predicted[0], true[0])
    r_of_second, _ = pearsonr(predicted[1], true[0])
    higher = with_true(predicted, true.repeat(2, axis=0))
    assert figure_of(higher) == pytest.approx([r_of_first, r_of_second], abs=1e-12)
    # The lower row predicts its true scores, so that only the higher row determines the interval.
    low, high = interval(higher[:1], with_true(true, true))
    error = 1.96 / math.sqrt(397)
    expected_low = math.tanh(math.atanh(r_of_first) - error) - 1
    expected_high = math.tanh(math.atanh(r_of_first) + error) - 1
    assert low == pytest.approx(expected_low, abs=0.015)
    assert high == pytest.approx(expected_high, abs=0.015)


TRUE = [0.7, 0.2, 0.4]


EXACT = with_true(TRUE, TRUE)


EQUAL = with_true([0.1, 0.1, 0.1], TRUE)
"""The same score for all items."""


def test_a_correlation_of_equal_scores_is_0_as_in_the_metric():
    assert figure_of(EQUAL) == 0
    assert figure_of(EQUAL[:, ::-1]) == 0


def test_resamples_with_equal_scores():
    """A ninth of the resamples of three items has only one of them."""
    differences, _ = resampled(EXACT[None], EQUAL[None])
    is_zero = numpy.isclose(differences, 0)
    assert is_zero.mean() == pytest.approx(1 / 9, abs=0.01)
    assert differences[~is_zero] == pytest.approx(1)


def test_p_of_few_items_is_not_below_the_exact_p_of_exchanging_their_answers():
    """The sign test: all of 7 items are better, or 5 of 1000, whose others are equal."""
    lower = numpy.linspace(0.2, 0.7, 7).reshape(1, 7, 1)
    noise = numpy.random.default_rng(0).random((3, 7, 1)) / 10
    assert compare(lower + 0.1 + noise, lower).p == pytest.approx(binomtest(7, 7).pvalue)
    same = numpy.full((1, 995, 1), 0.5)
    higher = numpy.concatenate([lower[:, :5] + 0.1, same], axis=1)
    lower = numpy.concatenate([lower[:, :5], same], axis=1)
    assert compare(higher, lower).p == pytest.approx(binomtest(5, 5).pvalue)


def test_fewer_items_than_any_difference_could_be_shown_by():
    assert binomtest(6, 6).pvalue < 0.05 < binomtest(5, 5).pvalue
    assert compare(digits("111111"), digits("000000")).p == pytest.approx(binomtest(6, 6).pvalue)
    with pytest.raises(ValueError, match="5 labeled items cannot show a difference"):
        compare(digits("11111"), digits("00000"))


def test_right_and_wrong_answers_of_two_models_are_compared_by_mcnemar():
    """Of 100 items, only X answers 12 and only Y 3: a binomial test of 12 of 15."""
    higher = digits("1" * 12 + "0" * 3 + "1" * 50 + "0" * 35)
    lower = digits("0" * 12 + "1" * 3 + "1" * 50 + "0" * 35)
    found = compare(higher, lower)
    assert found.test == "McNemar"
    assert found.p == pytest.approx(binomtest(12, 15).pvalue)
    assert found.difference == pytest.approx(0.09)
    assert found.seeds_to_decide is None
    assert compare(higher, higher).p == 1


def test_correlations_of_two_models():
    """A model that predicts better than another, and a copy of a model."""
    generator = numpy.random.default_rng(1)
    true = generator.normal(size=100)
    better = with_true(true + 0.5 * generator.normal(size=100), true)[None]
    worse = with_true(true + 3.0 * generator.normal(size=100), true)[None]
    found = compare(better, worse)
    assert found.test == "bootstrap"
    assert found.p < 0.001
    assert compare(better, better).p == 1


def p_of_normal_distribution(difference, standard_error):
    return 2 * norm.sf(abs(difference) / standard_error)


def test_average_precisions_of_two_models_by_the_normal_distribution():
    """Two single runs whose scores are neither right nor wrong answers."""
    generator = numpy.random.default_rng(2)
    higher = generator.random((1, 500, 1))
    noise = generator.normal(0.01, 0.2, size=(1, 500, 1))
    lower = (higher + noise).clip(0.001, 0.999)
    found = compare(higher, lower)
    standard_error = math.sqrt((higher - lower).var() / 500)
    expected = p_of_normal_distribution(found.difference, standard_error)
    assert found.test == "bootstrap"
    assert found.p == pytest.approx(expected, abs=0.02)


def three_seeds_alike(share, generator):
    """Return right answers with this probability, (3, 2000, 1)."""
    is_right = generator.random((1, 2000, 1)) < share
    return is_right.astype(float).repeat(3, axis=0)


def test_p_of_several_runs_fits_the_normal_distribution():
    """Three seeds that are alike: the standard error is over the items."""
    generator = numpy.random.default_rng(0)
    higher = three_seeds_alike(0.82, generator)
    lower = three_seeds_alike(0.80, generator)
    found = compare(higher, lower)
    standard_error = math.sqrt((higher - lower)[0].var() / 2000)
    expected = p_of_normal_distribution(found.difference, standard_error)
    assert found.test == "bootstrap"
    assert found.p == pytest.approx(expected, abs=0.02)
    num_errors = norm.ppf(0.975) + norm.ppf(0.8)
    assert found.smallest == pytest.approx(num_errors * standard_error, rel=0.05)


@pytest.mark.parametrize(
    ("difference", "of_items", "of_runs", "expected"),
    [
        # A difference of 2.8 standard errors: 1 = 0.5 + 2 / 4.
        (2.8, 0.5, 2.0, 4),
        (-2.8, 0.5, 2.0, 4),
        (2.8, 0.0, 0.0, 1),
        (2.8, 1.0, 0.1, None),
        (0.0, 0.0, 1.0, None),
    ],
)
def test_the_seeds_that_decide(difference, of_items, of_runs, expected):
    assert needed_seeds(difference, of_items, of_runs) == expected


@pytest.fixture
def runs() -> numpy.ndarray:
    """Right answers of two sets of 30 runs to 400 items, (2, 30, 400, 1).

    A run's probability of a right answer differs with a standard deviation of 0.02, and an item's,
    the same for both sets, with 0.3 for X and not at all for Y.
    """
    generator = numpy.random.default_rng(0)
    of_runs = generator.normal(0.5, 0.02, size=(2, 30, 1, 1))
    of_items = generator.choice([-0.3, 0.3], size=(1, 400, 1))
    probabilities = of_runs + numpy.stack([of_items, 0 * of_items])
    return (generator.random((2, 30, 400, 1)) < probabilities).astype(float)


OF_ITEMS = 0.09
"""The variance of the items' probabilities of a right answer."""


OF_ANSWERS = 0.16 + 0.25
"""The variances of an answer by chance, p (1 - p), for X and for Y."""


def test_the_smallest_difference_follows_from_the_variances_of_items_and_seeds(runs):
    of_items = (OF_ITEMS + OF_ANSWERS / 30) / 400
    of_seeds = (2 * 0.02**2 + OF_ANSWERS / 400) / 30
    smallest = compare(runs[0], runs[1], resamples=2000).smallest
    assert smallest == pytest.approx(2.8 * math.sqrt(of_items + of_seeds), rel=0.1)


def test_more_seeds_leave_the_variance_of_the_items(runs):
    _, over_items = resampled(runs[0], runs[1], 2000)
    difference = over_items[0].mean(axis=0) - over_items[1].mean(axis=0)
    constant, of_answers = parted(over_items, difference.var())
    assert constant == pytest.approx(OF_ITEMS / 400, rel=0.2)
    assert of_answers == pytest.approx(OF_ANSWERS / 400, rel=0.2)


def test_holm():
    """The second of three has twice its p, but at least the corrected p of the first."""
    assert holm([0.01, 0.04, 0.012]) == pytest.approx([0.03, 0.04, 0.03])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([]) == []
