"""The classifier against its objective, and against scikit-learn's own probabilities."""

import numpy
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from allennlp_sentmatch.transfer.logistic_regression import L2_PENALTIES, fit_path


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
        errors = classifier.probabilities(features) - numpy.eye(len(classifier.classes))[labels]
        # Shape: (C, D)
        gradient = (errors * weights[:, None]).T @ standardized / weights.sum()
        own = classifier.weights * numpy.sqrt(
            ((features - features.mean(axis=0)) ** 2).mean(axis=0)
        )
        if len(own) == 1:  # the second of two classes
            gradient = gradient[1:]
        numpy.testing.assert_allclose(gradient + l2 * own, 0, atol=5e-4)
        numpy.testing.assert_allclose((errors * weights[:, None]).sum(axis=0), 0, atol=0.1)


def test_probabilities_are_those_of_scikit_learn(examples):
    features, labels = examples
    scaler = StandardScaler().fit(features)
    (classifier,) = fit_path(features, labels, [0.01])
    reference = LogisticRegression(C=1 / (0.01 * len(labels)), tol=1e-8, max_iter=1000)
    reference.fit(scaler.transform(features), labels)
    numpy.testing.assert_allclose(
        classifier.probabilities(features),
        reference.predict_proba(scaler.transform(features)),
        atol=2e-3,
    )
    right = classifier.predict(features) == reference.predict(scaler.transform(features))
    assert right.mean() > 0.98


def test_a_path_ends_where_a_single_fit_does(examples):
    features, labels = examples
    for l2, classifier in zip(L2_PENALTIES, fit_path(features, labels)):
        (alone,) = fit_path(features, labels, [l2])
        numpy.testing.assert_allclose(
            classifier.probabilities(features), alone.probabilities(features), atol=0.02
        )


def test_a_weight_counts_as_that_many_examples(examples):
    """With the same features in all examples, so that standardization has no part in it."""
    labels = examples[1]
    weights = numpy.arange(len(labels)) % 3 + 1.0
    repeated = numpy.repeat(labels, weights.astype(int))
    (weighted,) = fit_path(numpy.ones((len(labels), 2)), labels, [0.1], weights)
    (plain,) = fit_path(numpy.ones((len(repeated), 2)), repeated, [0.1])
    numpy.testing.assert_allclose(
        weighted.probabilities(numpy.ones((1, 2))),
        plain.probabilities(numpy.ones((1, 2))),
        atol=1e-4,
    )


def test_the_scale_of_the_features_does_not_matter(examples):
    features, labels = examples
    scaled = features * [100, 0.01, 7, 1] + 3
    for one, other in zip(fit_path(features, labels), fit_path(scaled, labels)):
        numpy.testing.assert_allclose(
            one.probabilities(features), other.probabilities(scaled), atol=1e-5
        )


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_a_constant_feature_changes_nothing(examples, value):
    features, labels = examples
    wider = numpy.concatenate([features, numpy.full((len(features), 1), value)], axis=1)
    for one, other in zip(
        fit_path(features.astype("f4"), labels), fit_path(wider.astype("f4"), labels)
    ):
        numpy.testing.assert_allclose(
            one.probabilities(features), other.probabilities(wider), atol=0.01
        )


def test_a_strong_penalty_leaves_the_shares_of_the_classes(examples):
    features, labels = examples
    (classifier,) = fit_path(features, labels, [1e6])
    shares = numpy.bincount(labels) / len(labels)
    numpy.testing.assert_allclose(
        classifier.probabilities(features), numpy.tile(shares, (len(labels), 1)), atol=1e-3
    )


def test_labels_may_be_strings():
    features = numpy.array([[0.0], [1.0], [2.0], [3.0]], "f4")
    (classifier,) = fit_path(features, numpy.array(["no", "no", "yes", "yes"]), [0.001])
    assert classifier.predict(features).tolist() == ["no", "no", "yes", "yes"]
    assert classifier.weights.dtype == numpy.float32
