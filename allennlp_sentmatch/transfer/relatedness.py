"""Scores by a logistic regression of grades.

A score is a distribution over the two nearest grades, which a classifier learns under the KL
divergence (Tai, Socher and Manning 2015; see `allennlp_sentmatch.nn.similarity`). But for a
constant, this is the cross-entropy of a logistic regression in which an example has a row for each
of its grades, with the grade's probability as the weight.
"""

from typing import NamedTuple

import numpy
import torch
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.nn.similarity import grade_distribution
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
    # Shape: (N, highest - lowest + 1)
    distributions = grade_distribution(torch.from_numpy(scores), lowest, highest).numpy()
    examples, grades = numpy.nonzero(distributions)
    return GradedRows(examples, grades + lowest, distributions[examples, grades])


def expected_grades(classifier: LinearClassifier, features: Array) -> Array:
    """The predicted scores (N,) for features (N, D)."""
    expected: Array = classifier.probabilities(features) @ classifier.classes.astype(float)
    return expected
