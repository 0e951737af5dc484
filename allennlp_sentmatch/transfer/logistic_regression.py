"""Logistic regression on standardized features, for a path of L2 penalties.

For N examples with the weights w_n (1 unless they are given), the standardized features z_n and the
labels y_n, the weights W and biases b of the classes minimize

    sum_n w_n (- log softmax(W z_n + b)[y_n]) / sum_n w_n + l2 / 2 * ||W||^2

The features are standardized to mean 0 and standard deviation 1 over the training examples, so that
a penalty means the same for vectors of any scale, and so that L-BFGS converges within a few dozen
iterations.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

Array = numpy.ndarray[Any, Any]

L2_PENALTIES = (10.0, 1.0, 0.1, 0.01, 0.001, 0.0001)
"""The penalties that are compared, the strongest first."""

MAX_ITERATIONS = 100
"""Of L-BFGS, for each penalty. With weak penalties on wide vectors, most of the time goes into the
last digits of the weights, which change no prediction."""

BLOCK_SIZE = 1024
"""The number of examples that are held in double precision at a time."""


@dataclass(frozen=True)
class LinearClassifier:
    """A trained classifier.

    # Parameters

    classes : `numpy.ndarray`
        (C,), sorted.
    weights : `numpy.ndarray`
        (C, D), for features that are not standardized; of two classes, (1, D), the second's.
    biases : `numpy.ndarray`
        (C,) or (1,).
    """

    classes: Array
    weights: Array
    biases: Array

    def probabilities(self, features: Array) -> Array:
        """The classes' probabilities (N, C) for features (N, D)."""
        logits = features @ self.weights.T + self.biases
        if len(self.classes) == 2:
            logits = numpy.concatenate([numpy.zeros_like(logits), logits], axis=1)
        logits -= logits.max(axis=1, keepdims=True)
        exponentials: Array = numpy.exp(logits)
        exponentials /= exponentials.sum(axis=1, keepdims=True)
        return exponentials

    def predict(self, features: Array) -> Array:
        """The most probable classes (N,) for features (N, D)."""
        predicted: Array = self.classes[self.probabilities(features).argmax(axis=1)]
        return predicted


def fit_path(
    features: Array,
    labels: Array,
    l2_penalties: Sequence[float] = L2_PENALTIES,
    weights: Optional[Array] = None,
) -> Iterator[LinearClassifier]:
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
    mean, deviation = _moments(features)
    standardized = features - mean
    standardized /= deviation
    total = len(labels) if weights is None else weights.sum()
    regression = LogisticRegression(solver="lbfgs", warm_start=True, max_iter=MAX_ITERATIONS)
    for l2 in l2_penalties:
        regression.set_params(C=1 / (l2 * total))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # see MAX_ITERATIONS
            regression.fit(standardized, labels, weights)
        own_weights = (regression.coef_ / deviation).astype(features.dtype)
        biases = (regression.intercept_ - own_weights @ mean).astype(features.dtype)
        yield LinearClassifier(regression.classes_, own_weights, biases)


def _moments(features: Array) -> tuple[Array, Array]:
    """The features' means and standard deviations, both (D,); constant features have 1."""
    blocks = range(0, len(features), BLOCK_SIZE)
    mean = sum(features[i : i + BLOCK_SIZE].sum(axis=0, dtype=numpy.float64) for i in blocks)
    mean = mean / len(features)
    squares = sum(((features[i : i + BLOCK_SIZE] - mean) ** 2).sum(axis=0) for i in blocks)
    deviation = numpy.sqrt(squares / len(features))
    # Rounding leaves a constant feature a tiny deviation, by which it must not be divided.
    deviation[deviation <= 1e-6 * numpy.abs(mean)] = 1
    deviation[deviation == 0] = 1
    return mean.astype(features.dtype), deviation.astype(features.dtype)
