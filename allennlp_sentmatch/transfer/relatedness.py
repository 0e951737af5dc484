"""Degrees of relatedness as distributions over grades.

Tai, Socher and Manning 2015 (arXiv:1503.00075), section 4.2: a score y becomes the distribution

    p_i = y - floor(y)         for the grade i = floor(y) + 1
    p_i = floor(y) - y + 1     for the grade i = floor(y)
    p_i = 0                    for the others

A classifier learns it under the KL divergence, and predicts the expected grade. But for a constant,
the KL divergence is the cross-entropy of a logistic regression with two rows for each example, one
a grade, of the weights p_i.
"""

from typing import NamedTuple

import numpy
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.transfer.logistic_regression import Array, LinearClassifier


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
    floors = numpy.floor(scores)
    remainders = scores - floors
    # Shape: (2 * N,)
    examples = numpy.tile(numpy.arange(len(scores)), 2)
    grades = numpy.concatenate([floors, floors + 1]).astype(int)
    weights = numpy.concatenate([1 - remainders, remainders])
    present = weights > 0
    return GradedRows(examples[present], grades[present], weights[present])


def expected_grades(classifier: LinearClassifier, features: Array) -> Array:
    """The predicted scores (N,) for features (N, D)."""
    expected: Array = classifier.probabilities(features) @ classifier.classes.astype(float)
    return expected
