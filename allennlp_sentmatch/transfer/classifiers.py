"""Classifiers of labels and of scores from sentence vectors, and the choice of their L2 penalty.

`allennlp_sentmatch.estimators.linear` has their objective. The penalty is chosen on validation data
or by cross-validation, as SentEval does; test data are not used for this.
"""

from typing import Optional, Union

import numpy
import torch
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold, cross_val_score

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.errors import ConfigurationError
from allennlp_sentmatch.estimators.groups import are_scores, strata_of
from allennlp_sentmatch.estimators.linear import fit_pipeline
from allennlp_sentmatch.files.progress import progress_over
from allennlp_sentmatch.nn.similarity import grade_distribution
from allennlp_sentmatch.training.metrics.correlations import correlations

Data = tuple[Array, Array]
"""Features (N, D) and their targets (N,), labels or scores."""

L2_PENALTIES = (10.0, 1.0, 0.1, 0.01, 0.001, 0.0001)
"""The penalties that are compared, the strongest first."""


class LabelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """scikit-learn's estimator of labels, with the penalty `l2`."""

    def __init__(self, l2: float = 1.0) -> None:
        self.l2 = l2

    def fit(self, features: Array, labels: Array) -> "LabelClassifier":
        """Learn the labels (N,) of features (N, D)."""
        self.pipeline_ = fit_pipeline(features, labels, self.l2)
        self.classes_ = self.pipeline_.classes_
        return self

    def predict(self, features: Array) -> Array:
        """Return the labels (N,) of features (N, D)."""
        labels: Array = self.pipeline_.predict(features)
        return labels


class GradeRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """scikit-learn's estimator of scores between the grades `lowest` and `highest`.

    A score is a distribution over the two nearest grades, which a classifier learns under the KL
    divergence (Tai, Socher and Manning 2015; see `allennlp_sentmatch.nn.similarity`). Up to a
    constant, this is the cross-entropy of a logistic regression in which an example has a row for
    each of its grades, weighted by the grade's probability. The prediction is the expected grade.
    """

    def __init__(self, lowest: int, highest: int, l2: float = 1.0) -> None:
        self.lowest = lowest
        self.highest = highest
        self.l2 = l2

    def fit(self, features: Array, scores: Array) -> "GradeRegressor":
        """Learn the scores (N,) of features (N, D).

        Raise `ConfigurationError` for a score that is not between the grades.
        """
        outside = (scores < self.lowest) | (scores > self.highest)
        if outside.any():
            raise ConfigurationError(
                f"expected scores between {self.lowest} and {self.highest}, got "
                f"{scores[outside.argmax()]}"
            )
        # Shape: (N, highest - lowest + 1)
        probs = grade_distribution(torch.from_numpy(scores), self.lowest, self.highest).numpy()
        examples, columns = numpy.nonzero(probs)
        weights = probs[examples, columns]
        self.pipeline_ = fit_pipeline(features[examples], columns + self.lowest, self.l2, weights)
        return self

    def predict(self, features: Array) -> Array:
        """Return the scores (N,) of features (N, D)."""
        probs = self.pipeline_.predict_proba(features)
        scores: Array = probs @ self.pipeline_.classes_.astype(float)
        return scores

    def score(self, features: Array, scores: Array) -> float:
        """Return Pearson's correlation of the predictions and the scores (N,)."""
        return correlations(self.predict(features), scores)["pearson"]


Estimator = Union[LabelClassifier, GradeRegressor]


def predict_with_best_penalty(
    estimator: Estimator,
    train: Data,
    validation: Optional[Data],
    test_features: Optional[Array],
    num_folds: int = 10,
    seed: int = 1111,
    description: str = "",
    groups: Optional[Array] = None,
) -> tuple[Array, list[float]]:
    """Choose the penalty, and predict with it.

    With features and targets for `validation`, these decide. Otherwise, the mean over the folds of
    `train` does, and all of them are trained on. Without `test_features` (M, D), each fold is
    tested by a classifier of the others, whose penalty is chosen by cross-validation over them. In
    ties, the strongest penalty is chosen.

    There are `num_folds` folds, at least 3, which depend on the `seed`. They keep the `groups` (N,)
    of `train` together, by default each example on its own; these are numbers from 0, in the order
    in which they occur first. A progress bar has the `description`.

    Return the predictions (M,), or (N,) for `train`, and the penalty, or one for each fold. Raise
    `ConfigurationError` if there are too few examples for the folds.
    """
    if validation is not None:
        assert test_features is not None
        fitted = {}
        scores = {}
        for l2 in progress_over(L2_PENALTIES, description):
            fitted[l2] = _fitted(estimator, l2, train)
            scores[l2] = fitted[l2].score(*validation)
        best = max(scores, key=scores.__getitem__)
        return fitted[best].predict(test_features), [best]
    features, targets = train
    groups = numpy.arange(len(targets)) if groups is None else groups
    folds = _folds(targets, groups, num_folds, seed)
    if test_features is not None:
        best = _best_over_folds(estimator, train, folds)
        return _fitted(estimator, best, train).predict(test_features), [best]
    predicted = numpy.empty_like(targets)
    chosen = []
    for fold in progress_over(range(num_folds), description):
        others = folds != fold
        learned = (features[others], targets[others])
        best = _best_over_folds(estimator, learned, folds[others])
        chosen.append(best)
        predicted[~others] = _fitted(estimator, best, learned).predict(features[~others])
    return predicted, chosen


def _fitted(estimator: Estimator, l2: float, data: Data) -> Estimator:
    """Return a new estimator that has learned the data with a penalty."""
    fitted: Estimator = clone(estimator).set_params(l2=l2).fit(*data)
    return fitted


def _best_over_folds(estimator: Estimator, data: Data, folds: Array) -> float:
    """Return the penalty with the best mean score over the folds (N,) of N examples."""
    means = {}
    for l2 in L2_PENALTIES:
        candidate = clone(estimator).set_params(l2=l2)
        scores = cross_val_score(candidate, *data, cv=PredefinedSplit(folds), error_score="raise")
        means[l2] = scores.mean()
    return max(means, key=means.__getitem__)


def _folds(targets: Array, groups: Array, num_folds: int, seed: int) -> Array:
    """Return the fold of each example (N,): all folds have about the same share of every label.

    Raise `ConfigurationError` if there are too few groups, of any label, for the folds.
    """
    if are_scores(targets):
        labels = numpy.zeros(len(targets), int)
        splitter = KFold(num_folds, shuffle=True, random_state=seed)
    else:
        labels = numpy.unique(targets, return_inverse=True)[1]
        splitter = StratifiedKFold(num_folds, shuffle=True, random_state=seed)
    strata, counts = strata_of(groups, labels)
    smallest = counts.min()
    if smallest < num_folds:
        subject = "there are" if are_scores(targets) else "a label has"
        raise ConfigurationError(
            f"{subject} {smallest} different examples, too "
            f"few for {num_folds} folds, each of which needs one: choose fewer (--folds) or add "
            "examples"
        )
    folds = numpy.empty(len(strata), int)
    for fold, (_, held_out) in enumerate(splitter.split(strata, strata)):
        folds[held_out] = fold
    return folds[groups]
