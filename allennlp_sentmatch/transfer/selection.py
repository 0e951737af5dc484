"""Choosing the L2 penalty on validation data, and testing with it.

The test data have no part in the choice. Of equally good penalties, the strongest is chosen.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from sklearn.model_selection import StratifiedKFold

from allennlp_sentmatch.transfer.logistic_regression import (
    L2_PENALTIES,
    Array,
    LinearClassifier,
    fit_path,
)


class Predictions(NamedTuple):
    """The predictions of the chosen classifiers for the test examples."""

    #: (N,), labels or scores.
    predicted: Array
    #: The penalties that were chosen: one, or one for each test fold.
    l2_penalties: list[float]


Predict = Callable[[LinearClassifier, Array], Array]
Score = Callable[[Array, Array], float]


def with_validation_data(
    path: Iterator[LinearClassifier],
    validation: tuple[Array, Array],
    test_features: Array,
    predict: Predict,
    score: Score,
    description: str,
) -> Predictions:
    """Predictions of the classifier that is best on validation data.

    # Parameters

    path : `Iterator[LinearClassifier]`
        Trained ones, one for each of `L2_PENALTIES`.
    validation : `tuple[numpy.ndarray, numpy.ndarray]`
        Features (V, D) and targets (V,).
    test_features : `numpy.ndarray`
        (N, D)
    predict : `Callable`
        The predictions of a classifier for features.
    score : `Callable`
        How good predictions are for targets; more is better.
    description : `str`
        Of the progress bar.
    """
    classifiers = list(Tqdm.tqdm(path, desc=description, total=len(L2_PENALTIES)))
    features, targets = validation
    best = numpy.argmax([score(predict(one, features), targets) for one in classifiers])
    return Predictions(predict(classifiers[best], test_features), [L2_PENALTIES[best]])


def with_cross_validation(
    features: Array,
    labels: Array,
    test_features: Array,
    num_folds: int,
    seed: int,
    description: str,
) -> Predictions:
    """Predictions of a classifier whose penalty is chosen by cross-validation.

    The penalty is the one with the most right predictions over all folds of the training data;
    then all of them are trained on.

    # Parameters

    features : `numpy.ndarray`
        (M, D)
    labels : `numpy.ndarray`
        (M,)
    test_features : `numpy.ndarray`
        (N, D)
    num_folds : `int`
    seed : `int`
        Of the folds.
    description : `str`
        Of the progress bar.
    """
    folds = _folds(labels, num_folds, seed)
    num_right = numpy.zeros(len(L2_PENALTIES), int)
    for fold in Tqdm.tqdm(range(num_folds), desc=description):
        held_out = folds == fold
        path = fit_path(features[~held_out], labels[~held_out])
        num_right += _num_right(path, features[held_out], labels[held_out])
    best = L2_PENALTIES[num_right.argmax()]
    (classifier,) = fit_path(features, labels, [best])
    return Predictions(classifier.predict(test_features), [best])


def with_nested_cross_validation(
    features: Array, labels: Array, num_folds: int, seed: int, description: str
) -> Predictions:
    """Predictions for every example, by a classifier that has not seen the example's fold.

    For each fold, the penalty is chosen by cross-validation within the other folds. A classifier
    that is trained without two folds validates for each of them on the other one: K folds take
    K (K - 1) / 2 paths of penalties, half of what two nested loops take.

    # Parameters

    features : `numpy.ndarray`
        (N, D)
    labels : `numpy.ndarray`
        (N,)
    num_folds : `int`
        At least 3.
    seed : `int`
        Of the folds.
    description : `str`
        Of the progress bar.
    """
    folds = _folds(labels, num_folds, seed)
    # For each test fold and each penalty.
    num_right = numpy.zeros((num_folds, len(L2_PENALTIES)), int)
    for first, second in Tqdm.tqdm(list(combinations(range(num_folds), 2)), desc=description):
        kept = (folds != first) & (folds != second)
        classifiers = list(fit_path(features[kept], labels[kept]))
        for test, validation in ((first, second), (second, first)):
            held_out = folds == validation
            num_right[test] += _num_right(classifiers, features[held_out], labels[held_out])
    chosen = [L2_PENALTIES[best] for best in num_right.argmax(axis=1)]
    predicted = numpy.empty_like(labels)
    for test, l2 in enumerate(chosen):
        held_out = folds == test
        (classifier,) = fit_path(features[~held_out], labels[~held_out], [l2])
        predicted[held_out] = classifier.predict(features[held_out])
    return Predictions(predicted, chosen)


def _num_right(
    classifiers: Iterable[LinearClassifier],
    features: Array,
    labels: Array,
) -> list[int]:
    """The number of right predictions of each classifier."""
    return [int((one.predict(features) == labels).sum()) for one in classifiers]


def _folds(labels: Array, num_folds: int, seed: int) -> Array:
    """The fold of each example (N,): all folds have about the same share of every label."""
    smallest = numpy.unique(labels, return_counts=True)[1].min()
    if smallest < num_folds:
        raise ConfigurationError(
            f"a label has {smallest} examples, too few for {num_folds} folds: each needs one"
        )
    folds = numpy.empty(len(labels), int)
    splitter = StratifiedKFold(num_folds, shuffle=True, random_state=seed)
    for fold, (_, held_out) in enumerate(splitter.split(labels, labels)):
        folds[held_out] = fold
    return folds
