"""Statistics of the difference between two sets of runs, X and Y, on the same items.

The scores of a set are (seeds, items, 1), whose mean over the items is a run's figure, or (seeds,
items, 2), predicted and true scores whose Pearson correlation is the figure. The difference is
between the means of the figures. It varies by the items, which X and Y share, and by the seeds,
which they do not, even if the seeds' numbers are equal: the same seed gives different models
different random numbers.

A bootstrap of n seeds has (n - 1) / n of their variance, so that the interval of three is too
narrow. Answers that a run gives by chance make it too wide, since they count both for the items and
for the seeds (Owen 2007, "The pigeonhole bootstrap").
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy
from scipy.stats import binomtest

BATCH = 100
"""Resamples at a time."""
RESAMPLES = 10_000
DECIDES = 1.96
"""Standard errors from zero at which a 95 % interval ends."""
FINDS = 1.96 + 0.84
"""Standard errors of a difference that such an interval excludes from zero in 80 % of cases."""


class Comparison(NamedTuple):
    """The difference X - Y that the runs of X and Y show, in the unit of the figures."""

    higher_mean: float
    lower_mean: float
    difference: float
    low: float
    """The lower end of the 95 % interval over items and, if X or Y has several, seeds."""
    high: float
    p: float
    """The two-sided p-value of the hypothesis that the difference is zero."""
    test: str
    """The name of the test that gave `p`."""
    smallest: float
    """The smallest difference that so many seeds and items find in 80 % of cases. With one run of
    each, the comparison is only between these two models, not between their methods.
    """
    seeds_to_decide: Optional[int]
    """The number of seeds of X and of Y with which the difference would be found in 80 % of cases,
    if it is as large as it seems; `None` if there are too few items, or if the seeds' spread is not
    known.
    """


def figure_of(items: numpy.ndarray) -> Any:
    """Return the mean of scores (..., items, 1), or Pearson's correlation of predicted and true
    scores (..., items, 2).
    """
    means = items.mean(axis=-2, keepdims=True)  # (..., 1, 1) or (..., 1, 2)
    if items.shape[-1] == 1:
        return means[..., 0, 0]
    predicted, true = numpy.moveaxis(items - means, -1, 0)  # (..., items) each
    variances = (predicted**2).sum(-1) * (true**2).sum(-1)
    return (predicted * true).sum(-1) / numpy.sqrt(variances)


def compare(higher: numpy.ndarray, lower: numpy.ndarray, resamples: int = RESAMPLES) -> Comparison:
    """Compare the scores of X and Y, which have the same items; numbers of seeds may differ."""
    rows = (higher, lower)
    figures = [figure_of(row) for row in rows]
    means = [float(row.mean()) for row in figures]
    difference = means[0] - means[1]
    over_both, over_items = resampled(higher, lower, resamples)
    differences = over_both[0] - over_both[1]
    low, high = numpy.percentile(differences, [2.5, 97.5])
    p, test = p_value(higher, lower, differences)
    of_runs = [float(row.var(ddof=1)) if len(row) > 1 else 0.0 for row in figures]
    of_seeds = sum(one / len(row) for one, row in zip(of_runs, rows))
    of_items = float((over_items[0].mean(axis=0) - over_items[1].mean(axis=0)).var())
    seeds = None
    if min(len(row) for row in rows) > 1:
        constant, of_answers = parted(over_items, of_items)
        seeds = needed_seeds(difference, constant, sum(of_runs) + of_answers)
    return Comparison(
        higher_mean=means[0],
        lower_mean=means[1],
        difference=difference,
        low=float(low),
        high=float(high),
        p=p,
        test=test,
        smallest=FINDS * math.sqrt(of_items + of_seeds),
        seeds_to_decide=seeds,
    )


def resampled(
    higher: numpy.ndarray, lower: numpy.ndarray, resamples: int = RESAMPLES
) -> tuple[list[numpy.ndarray], list[numpy.ndarray]]:
    """Return two bootstraps of the figures of X and Y.

    The first is of items and seeds, (resamples,) for each of X and Y, means over the seeds. The
    second is of items, (seeds, resamples) for each. X and Y share each resample of the items; the
    seeds are drawn separately for each of them.
    """
    generator = numpy.random.default_rng(0)
    over_both = [numpy.empty(resamples) for _ in range(2)]
    over_items = [numpy.empty((len(row), resamples)) for row in (higher, lower)]
    for start in range(0, resamples, BATCH):
        batch = slice(start, min(start + BATCH, resamples))
        size = (batch.stop - batch.start, higher.shape[1])
        counts = counted(generator.integers(higher.shape[1], size=size))  # (R, items)
        for index, row in enumerate((higher, lower)):
            by_seed = weighted_figures(row, counts)  # (seeds, R)
            seeds = generator.integers(len(row), size=(len(row), size[0]))  # (seeds, R)
            drawn = numpy.take_along_axis(by_seed, seeds, axis=0)
            over_both[index][batch] = drawn.mean(axis=0)
            over_items[index][:, batch] = by_seed
    return over_both, over_items


def counted(chosen: numpy.ndarray) -> numpy.ndarray:
    """Return how often each resample has each item, (R, items), from the chosen items."""
    number, items = chosen.shape
    offsets = items * numpy.arange(number)[:, None]
    counts = numpy.bincount((chosen + offsets).ravel(), minlength=number * items)
    return counts.reshape(number, items).astype(float)


def weighted_figures(items: numpy.ndarray, counts: numpy.ndarray) -> numpy.ndarray:
    """Return `figure_of` resampled items (seeds, items, 1 or 2) as (seeds, resamples).

    This equals `figure_of(items[:, chosen])`, without copying the items.
    """

    def mean(values: numpy.ndarray) -> numpy.ndarray:
        means: numpy.ndarray = values @ counts.T / items.shape[1]
        return means

    if items.shape[-1] == 1:
        return mean(items[..., 0])
    predicted, true = numpy.moveaxis(items - items.mean(axis=1, keepdims=True), -1, 0)
    means = mean(predicted), mean(true)
    covariance = mean(predicted * true) - means[0] * means[1]
    variances = [mean(x**2) - m**2 for x, m in zip((predicted, true), means)]
    correlations: numpy.ndarray = covariance / numpy.sqrt(variances[0] * variances[1])
    return correlations


def parted(over_items: Sequence[numpy.ndarray], of_items: float) -> tuple[float, float]:
    """Return the part of `of_items` that more seeds do not reduce, and the part that they divide.

    `of_items` is the variance over the items of the difference of means over n seeds. The variance
    of a difference of single runs is larger, since each run answers some items by chance: the
    second part is n times as large.
    """
    higher, lower = over_items
    single = float((higher[:, None] - lower).var(axis=-1).mean())
    number = 2 / (1 / len(higher) + 1 / len(lower))
    of_answers = max(0.0, (single - of_items) * number / (number - 1))
    return max(0.0, of_items - of_answers / number), of_answers


def p_value(
    higher: numpy.ndarray, lower: numpy.ndarray, differences: numpy.ndarray
) -> tuple[float, str]:
    """Return p and the name of its test.

    For several runs, p comes from the bootstrapped `differences`. One run of each is a question
    about two models: right and wrong answers are compared by McNemar's exact test, other scores by
    exchanging the models' scores of random items.
    """
    if len(higher) > 1 or len(lower) > 1:
        beyond = min((differences <= 0).sum(), (differences >= 0).sum())
        return min(1.0, 2 * (int(beyond) + 1) / (len(differences) + 1)), "bootstrap"
    if higher.shape[-1] == 1 and {*numpy.unique(higher), *numpy.unique(lower)} <= {0.0, 1.0}:
        only_higher = int((higher > lower).sum())
        only_lower = int((higher < lower).sum())
        if only_higher + only_lower == 0:
            return 1.0, "McNemar"
        return float(binomtest(only_higher, only_higher + only_lower).pvalue), "McNemar"
    return exchange(higher[0], lower[0]), "exchanged scores"


def exchange(higher: numpy.ndarray, lower: numpy.ndarray, resamples: int = RESAMPLES) -> float:
    """Return p by exchanging two models' scores, (items, 1) or (items, 2), of random items."""
    generator = numpy.random.default_rng(0)
    observed = abs(figure_of(higher) - figure_of(lower))
    larger = 0
    for _ in range(resamples):
        is_exchanged = generator.random((len(higher), 1)) < 0.5
        first = numpy.where(is_exchanged, lower, higher)
        second = numpy.where(is_exchanged, higher, lower)
        larger += bool(abs(figure_of(first) - figure_of(second)) >= observed - 1e-12)
    return (larger + 1) / (resamples + 1)


def needed_seeds(difference: float, of_items: float, of_runs: float) -> Optional[int]:
    """Return the seeds of each set with which a difference is found in 80 % of cases.

    `of_items` is the variance of the difference that seeds do not change, and `of_runs` the
    variance of a difference of two single runs, which n seeds divide by n.
    """
    left = (difference / FINDS) ** 2 - of_items
    return max(1, math.ceil(of_runs / left)) if left > 0 else None


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values corrected for their number by Holm's method."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        corrected[index] = largest
    return corrected
