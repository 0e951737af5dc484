"""The classifiers against their objective, scores against Tai et al. (2015), section 4.2, and the
choice of the L2 penalty against plain loops; no test example has a part in it.
"""

import numpy
import pytest
from allennlp.common.checks import ConfigurationError
from sklearn.model_selection import StratifiedKFold, cross_val_score

from allennlp_sentmatch.transfer.classifiers import (
    L2_PENALTIES,
    GradeRegressor,
    LabelClassifier,
    fit_pipeline,
    predict_with_best_penalty,
)


@pytest.mark.parametrize("num_classes", [2, 3])
@pytest.mark.parametrize("l2", L2_PENALTIES)
def test_the_gradient_of_the_objective_vanishes(num_classes, l2):
    """Features have various scales, labels are noisy, and examples have different weights."""
    random = numpy.random.default_rng(1)
    labels = random.integers(num_classes, size=200)
    centers = random.normal(size=(num_classes, 4))
    scattered = centers[labels] + random.normal(size=(200, 4))
    features = scattered * [1, 10, 0.01, 3] + [0, 5, 1, -2]
    weights = random.uniform(0.1, 2, size=len(labels))
    standardized = (features - features.mean(axis=0)) / features.std(axis=0)
    classifier = fit_pipeline(features, labels, l2, weights)
    errors = classifier.predict_proba(features) - numpy.eye(num_classes)[labels]
    weighted_errors = errors * weights[:, None]
    gradient = weighted_errors.T @ standardized / weights.sum()  # (C, D)
    own = classifier[-1].coef_
    if len(own) == 1:  # the second of two classes
        gradient = gradient[1:]
    numpy.testing.assert_allclose(gradient + l2 * own, 0, atol=5e-4)
    numpy.testing.assert_allclose(weighted_errors.sum(axis=0), 0, atol=0.1)


@pytest.mark.parametrize("value", [0.1, 1e6])
def test_a_constant_feature_changes_nothing(examples, value):
    features, labels = examples
    features = features.astype("f4")
    constant = numpy.full((len(features), 1), value, "f4")
    wider = numpy.concatenate([features, constant], axis=1)
    expected = fit_pipeline(features, labels, 0.01).predict_proba(features)
    with_constant = fit_pipeline(wider, labels, 0.01)
    numpy.testing.assert_allclose(with_constant.predict_proba(wider), expected, atol=0.01)
    assert with_constant[-1].coef_.dtype == numpy.float32


def grade_distribution(score):
    """Return y - floor(y) at the grade floor(y) + 1, and the rest at floor(y); from 0 to 5."""
    distribution = numpy.zeros(6)
    low = int(score)
    distribution[low] = low - score + 1
    if score > low:
        distribution[low + 1] = score - low
    return distribution


def test_scores_minimize_the_kl_divergence():
    """For the same features in all examples, the minimum is at the mean of the distributions."""
    scores = numpy.array([0.0, 0.5, 2.75, 5.0, 3.25])
    expected = numpy.mean([grade_distribution(score) for score in scores], axis=0)
    regressor = GradeRegressor(0, 5, l2=0.001).fit(numpy.ones((5, 2)), scores)
    one = numpy.ones((1, 2))
    assert regressor.pipeline_.classes_.tolist() == [0, 1, 2, 3, 4, 5]
    (found,) = regressor.pipeline_.predict_proba(one)
    numpy.testing.assert_allclose(found, expected, atol=2e-3)
    numpy.testing.assert_allclose(regressor.predict(one), scores.mean(), atol=5e-3)


@pytest.mark.parametrize("score", [0.9, 5.1])
def test_a_score_outside_the_grades_is_an_error(score):
    with pytest.raises(ConfigurationError, match=f"between 1 and 5, got {score}"):
        GradeRegressor(1, 5).fit(numpy.ones((2, 1)), numpy.array([2.0, score]))


@pytest.fixture
def examples():
    """Noisy examples with so many features that the penalty matters."""
    random = numpy.random.default_rng(3)
    labels = numpy.array(["a", "b"])[random.integers(2, size=80)]
    features = random.normal(size=(80, 30)) + 0.4 * (labels == "b")[:, None]
    return features, labels


def best_over_folds(features, labels, folds):
    """Return the penalty with the best mean accuracy over training and validation rows."""
    means = []
    for l2 in L2_PENALTIES:
        accuracies = cross_val_score(LabelClassifier(l2), features, labels, cv=folds)
        means.append(accuracies.mean())
    return L2_PENALTIES[numpy.argmax(means)]


def test_nested_cross_validation_is_two_nested_loops(examples):
    features, labels = examples
    predicted, chosen = predict_with_best_penalty(LabelClassifier(), examples, None, None, 4, 7)
    splitter = StratifiedKFold(4, shuffle=True, random_state=7)
    folds = [test for _, test in splitter.split(features, labels)]
    for test, l2 in zip(folds, chosen):
        others = [fold for fold in folds if fold is not test]
        train = numpy.sort(numpy.concatenate(others))
        inner_folds = [(numpy.setdiff1d(train, fold), fold) for fold in others]
        assert l2 == best_over_folds(features, labels, inner_folds)
        classifier = LabelClassifier(l2).fit(features[train], labels[train])
        assert (predicted[test] == classifier.predict(features[test])).all()
    assert len(set(chosen)) > 1, "the data should make a difference between folds"


def test_cross_validation_on_the_training_data(examples):
    features, labels = examples
    train = features[:60], labels[:60]
    tested = features[60:]
    predicted, chosen = predict_with_best_penalty(LabelClassifier(), train, None, tested, 5, 7)
    folds = StratifiedKFold(5, shuffle=True, random_state=7)
    best = best_over_folds(*train, folds)
    assert chosen == [best]
    expected = LabelClassifier(best).fit(*train).predict(tested)
    assert (predicted == expected).all()


def test_validation_data_choose(examples):
    features, labels = examples
    train = features[:40], labels[:40]
    validated = features[40:60]
    tested = features[60:]
    classifiers = [LabelClassifier(l2).fit(*train) for l2 in L2_PENALTIES]
    for target in classifiers:
        # The labels are those that one of the classifiers predicts, which is then the best.
        wanted = target.predict(validated)
        is_best = [(one.predict(validated) == wanted).all() for one in classifiers]
        best = is_best.index(True)
        predicted, chosen = predict_with_best_penalty(
            LabelClassifier(), train, (validated, wanted), tested
        )
        assert chosen == [L2_PENALTIES[best]]
        assert (predicted == classifiers[best].predict(tested)).all()


@pytest.mark.parametrize(
    ("estimator", "targets", "message"),
    [
        (LabelClassifier(), ["a"] * 4 + ["b"] * 2, r"a label has 2 .* for 3 folds.*--folds"),
        (GradeRegressor(1, 2), [1.0, 2.0], "there are 2 different examples, too few for 3 folds"),
    ],
)
def test_too_few_examples_are_an_error(estimator, targets, message):
    train = numpy.ones((len(targets), 2)), numpy.array(targets)
    with pytest.raises(ConfigurationError, match=message):
        predict_with_best_penalty(estimator, train, None, None, 3, 1)
