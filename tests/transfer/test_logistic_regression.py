"""The classifier against its objective, and scores against Tai et al. (2015), section 4.2."""

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.transfer.logistic_regression import (
    L2_PENALTIES,
    expected_grades,
    fit_path,
    graded_rows,
)


@pytest.fixture(params=[2, 3])
def examples(request):
    """Features of various scales with noisy labels of two or three classes."""
    random = numpy.random.default_rng(1)
    labels = random.integers(request.param, size=200)
    centers = random.normal(size=(request.param, 4))
    features = centers[labels] + random.normal(size=(200, 4))
    return features * [1, 10, 0.01, 3] + [0, 5, 1, -2], labels


def softmax(logits):
    exponentials = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def test_the_gradient_of_the_objective_vanishes(examples):
    features, labels = examples
    standardized = (features - features.mean(axis=0)) / features.std(axis=0)
    weights = numpy.random.default_rng(2).uniform(0.1, 2, size=len(labels))
    for l2, classifier in zip(L2_PENALTIES, fit_path(features, labels, weights=weights)):
        errors = classifier.predict_proba(features) - numpy.eye(len(classifier.classes_))[labels]
        # Shape: (C, D)
        gradient = (errors * weights[:, None]).T @ standardized / weights.sum()
        own = classifier[-1].coef_
        if len(own) == 1:  # the second of two classes
            gradient = gradient[1:]
        numpy.testing.assert_allclose(gradient + l2 * own, 0, atol=5e-4)
        numpy.testing.assert_allclose((errors * weights[:, None]).sum(axis=0), 0, atol=0.1)


def test_a_path_ends_where_a_single_fit_does(examples):
    features, labels = examples
    for l2, classifier in zip(L2_PENALTIES, fit_path(features, labels)):
        (alone,) = fit_path(features, labels, [l2])
        numpy.testing.assert_allclose(
            classifier.predict_proba(features), alone.predict_proba(features), atol=0.02
        )


def test_a_weight_counts_as_that_many_examples(examples):
    """With the same features in all examples, so that standardization has no part in it."""
    labels = examples[1]
    weights = numpy.arange(len(labels)) % 3 + 1.0
    repeated = numpy.repeat(labels, weights.astype(int))
    (weighted,) = fit_path(numpy.ones((len(labels), 2)), labels, [0.1], weights)
    (plain,) = fit_path(numpy.ones((len(repeated), 2)), repeated, [0.1])
    numpy.testing.assert_allclose(
        weighted.predict_proba(numpy.ones((1, 2))),
        plain.predict_proba(numpy.ones((1, 2))),
        atol=1e-4,
    )


def test_the_scale_of_the_features_does_not_matter(examples):
    features, labels = examples
    scaled = features * [100, 0.01, 7, 1] + 3
    for one, other in zip(fit_path(features, labels), fit_path(scaled, labels)):
        numpy.testing.assert_allclose(
            one.predict_proba(features), other.predict_proba(scaled), atol=1e-5
        )


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_a_constant_feature_changes_nothing(examples, value):
    features, labels = examples
    wider = numpy.concatenate([features, numpy.full((len(features), 1), value)], axis=1)
    for one, other in zip(
        fit_path(features.astype("f4"), labels), fit_path(wider.astype("f4"), labels)
    ):
        numpy.testing.assert_allclose(
            one.predict_proba(features), other.predict_proba(wider), atol=0.01
        )


def test_a_strong_penalty_leaves_the_shares_of_the_classes(examples):
    features, labels = examples
    (classifier,) = fit_path(features, labels, [1e6])
    shares = numpy.bincount(labels) / len(labels)
    numpy.testing.assert_allclose(
        classifier.predict_proba(features), numpy.tile(shares, (len(labels), 1)), atol=1e-3
    )


def test_labels_may_be_strings():
    features = numpy.array([[0.0], [1.0], [2.0], [3.0]], "f4")
    (classifier,) = fit_path(features, numpy.array(["no", "no", "yes", "yes"]), [0.001])
    assert classifier.predict(features).tolist() == ["no", "no", "yes", "yes"]
    assert classifier[-1].coef_.dtype == numpy.float32


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
    numpy.testing.assert_allclose(classifier.predict_proba(features)[0], mean, atol=2e-3)
    numpy.testing.assert_allclose(expected_grades(classifier, features), scores.mean(), atol=5e-3)


@pytest.mark.parametrize("score", [0.9, 5.1])
def test_a_score_outside_the_grades_is_an_error(score):
    with pytest.raises(ConfigurationError, match=f"between 1 and 5, got {score}"):
        graded_rows(numpy.array([2.0, score]), 1, 5)
