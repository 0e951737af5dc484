"""Scores as distributions over grades: Tai et al. (2015), section 4.2."""

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.transfer.logistic_regression import LinearClassifier, fit_path
from allennlp_sentmatch.transfer.relatedness import expected_grades, graded_rows


def distributions(scores, lowest, highest):
    """The target distributions (N, K), by the paper's equations."""
    grades = range(lowest, highest + 1)
    return numpy.array(
        [
            [
                y - numpy.floor(y)
                if i == numpy.floor(y) + 1
                else numpy.floor(y) - y + 1
                if i == numpy.floor(y)
                else 0
                for i in grades
            ]
            for y in scores
        ]
    )


def test_rows_are_the_distributions_of_the_paper():
    scores = numpy.array([1.0, 3.6, 5.0, 4.25])
    rows = graded_rows(scores, 1, 5)
    found = numpy.zeros((4, 5))
    found[rows.examples, rows.grades - 1] = rows.weights
    numpy.testing.assert_allclose(found, distributions(scores, 1, 5), atol=1e-12)
    assert len(rows.weights) == 6  # whole scores have one grade, in the range
    numpy.testing.assert_allclose(found @ [1, 2, 3, 4, 5], scores)


def test_the_classifier_minimizes_the_kl_divergence():
    """For the same features in all examples, the minimum is at the mean of the distributions."""
    scores = numpy.array([0.0, 0.5, 2.75, 4.5, 3.25])
    rows = graded_rows(scores, 0, 5)
    features = numpy.ones((len(scores), 2))
    (classifier,) = fit_path(features[rows.examples], rows.grades, [0.001], rows.weights)
    mean = distributions(scores, 0, 5).mean(axis=0)
    numpy.testing.assert_allclose(classifier.probabilities(features)[0], mean, atol=2e-3)
    numpy.testing.assert_allclose(expected_grades(classifier, features), scores.mean(), atol=5e-3)


def test_the_prediction_is_the_expected_grade():
    logits = numpy.log([0.2, 0.3, 0.5])
    classifier = LinearClassifier(numpy.array([1, 2, 4]), numpy.zeros((3, 2)), logits)
    expected = 0.2 * 1 + 0.3 * 2 + 0.5 * 4
    numpy.testing.assert_allclose(expected_grades(classifier, numpy.ones((3, 2))), [expected] * 3)


@pytest.mark.parametrize("score", [0.9, 5.1])
def test_a_score_outside_the_grades_is_an_error(score):
    with pytest.raises(ConfigurationError, match=f"between 1 and 5, got {score}"):
        graded_rows(numpy.array([2.0, score]), 1, 5)
