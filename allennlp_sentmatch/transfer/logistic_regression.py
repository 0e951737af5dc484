"""Logistic regression on standardized features, of labels and of scores, for L2 penalties.

For N examples with the weights w_n (1 unless they are given), the standardized features z_n and the
labels y_n, the weights W and biases b of the classes minimize

    sum_n w_n (- log softmax(W z_n + b)[y_n]) / sum_n w_n + l2 / 2 * ||W||^2

The features are standardized to mean 0 and standard deviation 1 over the training examples, so that
a penalty means the same for vectors of any scale, and so that L-BFGS converges within a few dozen
iterations.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple, Optional

import numpy
import torch
from allennlp.common.checks import ConfigurationError
from scipy.stats import pearsonr
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from allennlp_sentmatch.nn.similarity import grade_distribution

Array = numpy.ndarray[Any, Any]

L2_PENALTIES = (10.0, 1.0, 0.1, 0.01, 0.001, 0.0001)
"""The penalties that are compared, the strongest first."""

MAX_ITERATIONS = 100
"""Of L-BFGS, for each penalty. With weak penalties on wide vectors, most of the time goes into the
last digits of the weights, which change no prediction."""

BLOCK_SIZE = 1024
"""The number of examples that are held in double precision at a time."""


def fit_path(
    features: Array,
    labels: Array,
    l2_penalties: Sequence[float] = L2_PENALTIES,
    weights: Optional[Array] = None,
) -> Iterator[Pipeline]:
    """Yield a classifier for each L2 penalty; each starts from the weights of the one before.

    # Parameters

    features : `numpy.ndarray`
        (N, D)
    labels : `numpy.ndarray`
        (N,), of at least two classes.
    l2_penalties : `Sequence[float]`, optional (default = `L2_PENALTIES`)
        Best from the strongest to the weakest.
    weights : `numpy.ndarray`, optional (default = `None`)
        (N,), those of the examples; by default, all are 1.
    """
    scaler = StandardScaler()
    for start in range(0, len(features), BLOCK_SIZE):
        scaler.partial_fit(features[start : start + BLOCK_SIZE])
    standardized = scaler.transform(features)
    total = len(labels) if weights is None else weights.sum()
    regression = LogisticRegression(solver="lbfgs", warm_start=True, max_iter=MAX_ITERATIONS)
    for l2 in l2_penalties:
        regression.set_params(C=1 / (l2 * total))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # see MAX_ITERATIONS
            regression.fit(standardized, labels, weights)
        yield make_pipeline(scaler, copy(regression))


class Prediction(NamedTuple):
    """The prediction of labels, or of scores."""

    #: From features (N, D), targets (N,) and penalties to a classifier for each penalty.
    fit_path: Callable[[Array, Array, Sequence[float]], Iterator[Pipeline]]
    #: The predictions (N,) of a classifier for features (N, D).
    predict: Callable[[Pipeline, Array], Array]
    #: How good predictions (N,) are for targets (N,); more is better.
    score: Callable[[Array, Array], float]


LABELS = Prediction(fit_path, Pipeline.predict, accuracy_score)


def grades(lowest: int, highest: int) -> Prediction:
    """The prediction of scores between the grades `lowest` and `highest`.

    A score is a distribution over the two nearest grades, which a classifier learns under the KL
    divergence (Tai, Socher and Manning 2015; see `allennlp_sentmatch.nn.similarity`). But for a
    constant, this is the cross-entropy of a logistic regression in which an example has a row for
    each of its grades, with the grade's probability as the weight. The prediction is the expected
    grade.
    """

    def fit(features: Array, scores: Array, l2_penalties: Sequence[float]) -> Iterator[Pipeline]:
        rows = graded_rows(scores, lowest, highest)
        return fit_path(features[rows.examples], rows.grades, l2_penalties, rows.weights)

    return Prediction(fit, expected_grades, pearson)


class GradedRows(NamedTuple):
    """The rows of a logistic regression that stand for scores; their number is R."""

    #: The example of each row (R,).
    examples: Array
    #: Its grade (R,).
    grades: Array
    #: Its weight (R,), more than 0; those of an example add up to 1.
    weights: Array


def graded_rows(scores: Array, lowest: int, highest: int) -> GradedRows:
    """The rows for scores (N,) between the grades `lowest` and `highest`.

    # Raises

    `ConfigurationError` for a score outside them.
    """
    outside = (scores < lowest) | (scores > highest)
    if outside.any():
        raise ConfigurationError(
            f"expected scores between {lowest} and {highest}, got {scores[outside.argmax()]}"
        )
    # Shape: (N, highest - lowest + 1)
    distributions = grade_distribution(torch.from_numpy(scores), lowest, highest).numpy()
    examples, columns = numpy.nonzero(distributions)
    return GradedRows(examples, columns + lowest, distributions[examples, columns])


def expected_grades(classifier: Pipeline, features: Array) -> Array:
    """The predicted scores (N,) for features (N, D)."""
    expected: Array = classifier.predict_proba(features) @ classifier.classes_.astype(float)
    return expected


def pearson(predicted: Array, targets: Array) -> float:
    """Pearson's correlation; see `correlation`."""
    return correlation(pearsonr, predicted, targets)


def correlation(function: Callable[..., Any], predicted: Array, targets: Array) -> float:
    """A correlation; 0 where all predictions or targets are the same and it is not defined."""
    if numpy.ptp(predicted) == 0 or numpy.ptp(targets) == 0:
        return 0.0
    return float(function(predicted, targets)[0])
