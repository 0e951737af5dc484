"""Statistics of the difference between two sets of runs, X and Y, on the same items.

The scores of a set are (seeds, items, 1), whose mean over the items is a run's figure, or (seeds,
items, 2), predicted and true scores whose Pearson correlation is the figure. The difference is
between the means of the figures. It varies by the items, which X and Y share, and by the seeds,
which they do not, even if the seeds' numbers are equal: the same seed gives different models
different random numbers.

A bootstrap of n seeds has (n - 1) / n of their variance, so that the interval of three is too
narrow: if only seeds varied, it would contain the true difference in 80 % of cases. Answers that a
run gives by chance make it too wide, since they count both for the items and for the seeds (Owen
2007, "The pigeonhole bootstrap").

A bootstrap of few items varies too little; of one item, not at all. If X and Y are equally good,
their answers to an item might as well be exchanged, in 2^d equally likely ways for d items with
different answers (Noreen 1989, "Computer-intensive methods for testing hypotheses"). So the
smallest two-sided p is 2^(1 - d), and fewer than six items cannot show a difference at 5 %.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import numpy
from numpy import ndarray
from scipy.stats import binomtest

BATCH = 100
"""Resamples at a time."""
RESAMPLES = 10_000
LEAST_ITEMS = 6
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


def figure_of(items: ndarray) -> Any:
    """Return the figures (...) of scores: means (..., items, 1), or correlations (..., items, 2).

    The correlation is Pearson's, of predicted and true scores. As in the metric, it is 0 if all
    predicted or all true ones are equal.
    """
    if items.shape[-1] == 1:
        return items.mean(axis=(-2, -1))
    deviations = items - items.mean(axis=-2, keepdims=True)
    predicted = deviations[..., 0]
    true = deviations[..., 1]
    covariance = (predicted * true).sum(-1)
    variances = (predicted**2).sum(-1) * (true**2).sum(-1)
    # A resample of few items can have one of them only. Rounding then gives deviations.
    is_defined = (numpy.ptp(items, axis=-2) > 0).all(axis=-1)
    zeros = numpy.zeros_like(variances)
    return numpy.divide(covariance, numpy.sqrt(variances), out=zeros, where=is_defined)


def compare(higher: ndarray, lower: ndarray, resamples: int = RESAMPLES) -> Comparison:
    """Compare the scores of X and Y, which have the same items and any numbers of seeds.

    Raise `ValueError` for fewer items than any difference could be shown by.
    """
    items = higher.shape[1]
    if items < LEAST_ITEMS:
        raise ValueError(
            f"{items} labeled items cannot show a difference, even if all of them differ; compare "
            f"on {LEAST_ITEMS} at least, better on hundreds"
        )
    higher_mean = float(figure_of(higher).mean())
    lower_mean = float(figure_of(lower).mean())
    difference = higher_mean - lower_mean
    over_both, over_items = resampled(higher, lower, resamples)
    low, high = numpy.percentile(over_both, [2.5, 97.5])
    p, test = p_value(higher, lower, over_both)
    smallest, seeds = power(higher, lower, difference, over_items)
    return Comparison(
        higher_mean=higher_mean,
        lower_mean=lower_mean,
        difference=difference,
        low=float(low),
        high=float(high),
        p=p,
        test=test,
        smallest=smallest,
        seeds_to_decide=seeds,
    )


def resampled(
    higher: ndarray, lower: ndarray, resamples: int = RESAMPLES
) -> tuple[ndarray, list[ndarray]]:
    """Bootstrap the figures of X and Y, over items and seeds and over items only.

    Each resample of the items is of both sets; the seeds are drawn for each set by itself.

    # Returns

    The differences of the means over drawn seeds, (resamples,), and for X and for Y the figures of
    all its seeds, (seeds, resamples).
    """
    generator = numpy.random.default_rng(0)
    items = higher.shape[1]
    differences = []
    over_items: tuple[list[ndarray], list[ndarray]] = ([], [])
    for start in range(0, resamples, BATCH):
        number = min(BATCH, resamples - start)
        chosen = generator.integers(items, size=(number, items))  # (R, items)
        means = []
        for runs, batches in zip((higher, lower), over_items):
            by_seed = numpy.stack([figure_of(run[chosen]) for run in runs])  # (seeds, R)
            seeds = generator.integers(len(runs), size=by_seed.shape)
            drawn = numpy.take_along_axis(by_seed, seeds, axis=0)
            means.append(drawn.mean(axis=0))
            batches.append(by_seed)
        differences.append(means[0] - means[1])
    figures = [numpy.concatenate(batches, axis=1) for batches in over_items]
    return numpy.concatenate(differences), figures


def power(
    higher: ndarray,
    lower: ndarray,
    difference: float,
    over_items: Sequence[ndarray],
) -> tuple[float, Optional[int]]:
    """Return `smallest` and `seeds_to_decide` of the `Comparison` with this difference."""
    higher_figures, lower_figures = over_items
    differences = higher_figures.mean(axis=0) - lower_figures.mean(axis=0)
    item_variance = float(differences.var())
    higher_variance = variance_of(higher)
    lower_variance = variance_of(lower)
    seed_variance = higher_variance / len(higher) + lower_variance / len(lower)
    smallest = FINDS * math.sqrt(item_variance + seed_variance)
    if len(higher) == 1 or len(lower) == 1:
        return smallest, None
    constant_variance, answer_variance = parted(over_items, item_variance)
    run_variance = higher_variance + lower_variance + answer_variance
    return smallest, needed_seeds(difference, constant_variance, run_variance)


def variance_of(runs: ndarray) -> float:
    """Return the variance of the figures of runs; 0 for a single one."""
    if len(runs) == 1:
        return 0.0
    return float(figure_of(runs).var(ddof=1))


def parted(over_items: Sequence[ndarray], item_variance: float) -> tuple[float, float]:
    """Return the part of `item_variance` that more seeds leave, and the part that they divide.

    `item_variance` is the variance over the items of the difference of means over n seeds. A
    difference of single runs has more of it, as each run answers some items by chance: the second
    part is n times as large.
    """
    higher, lower = over_items
    single_runs = higher[:, None] - lower  # (seeds, seeds, resamples)
    single_variance = float(single_runs.var(axis=-1).mean())
    number = 2 / (1 / len(higher) + 1 / len(lower))
    answer_variance = (single_variance - item_variance) * number / (number - 1)
    answer_variance = max(0.0, answer_variance)
    constant_variance = max(0.0, item_variance - answer_variance / number)
    return constant_variance, answer_variance


def p_value(higher: ndarray, lower: ndarray, differences: ndarray) -> tuple[float, str]:
    """Return p and the name of its test.

    Right and wrong answers, 1 and 0, of two single runs are compared by McNemar's exact test.
    Otherwise, p is from the bootstrapped `differences`, and at least the smallest p of exchanges.
    """
    are_single = higher.shape == lower.shape == (1, higher.shape[1], 1)
    if are_single and numpy.isin([higher, lower], [0.0, 1.0]).all():
        return mcnemar(higher, lower), "McNemar"
    below = int((differences <= 0).sum())
    above = int((differences >= 0).sum())
    p = 2 * (min(below, above) + 1) / (len(differences) + 1)
    is_equal = numpy.isclose(higher.mean(axis=0), lower.mean(axis=0)).all(axis=-1)
    different = int((~is_equal).sum())
    return min(1.0, max(p, 2.0 ** (1 - different))), "bootstrap"


def mcnemar(higher: ndarray, lower: ndarray) -> float:
    """Return p of right and wrong answers, 1 and 0, by McNemar's exact test."""
    only_higher = int((higher > lower).sum())
    different = int((higher != lower).sum())
    return float(binomtest(only_higher, different).pvalue) if different else 1.0


def needed_seeds(difference: float, constant_variance: float, run_variance: float) -> Optional[int]:
    """Return the seeds of each set with which a difference is found in 80 % of cases.

    `constant_variance` is the variance of the difference that seeds do not change, and
    `run_variance` the variance of a difference of two single runs, which n seeds divide by n. The
    result is `None` if no number of seeds suffices.
    """
    left = (difference / FINDS) ** 2 - constant_variance
    if left <= 0:
        return None
    return max(1, math.ceil(run_variance / left))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values corrected for their number by Holm's method."""
    order = numpy.argsort(p_values, kind="stable")
    factors = numpy.arange(len(order), 0, -1)
    products = factors * numpy.array(p_values)[order]
    corrected = numpy.empty(len(order))
    corrected[order] = numpy.maximum.accumulate(products).clip(max=1)
    return [float(p) for p in corrected]
