"""The choice of the L2 penalty, against plain loops; no test example has a part in it."""

import numpy
import pytest
from allennlp.common.checks import ConfigurationError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold

from allennlp_sentmatch.transfer.logistic_regression import L2_PENALTIES, LABELS, fit_path, grades
from allennlp_sentmatch.transfer.selection import Data, Selection


def nested(features, labels, num_folds, seed, prediction=LABELS):
    selection = Selection(prediction, num_folds, seed, "test")
    return selection.with_nested_cross_validation(Data(features, labels))


@pytest.fixture
def examples():
    """Noisy examples, so many features that the penalty matters."""
    random = numpy.random.default_rng(3)
    labels = numpy.array(["a", "b"])[random.integers(2, size=80)]
    features = random.normal(size=(80, 30)) + 0.4 * (labels == "b")[:, None]
    return features, labels


def test_nested_cross_validation_is_two_nested_loops(examples):
    features, labels = examples
    found = nested(features, labels, 4, 7)
    splitter = StratifiedKFold(4, shuffle=True, random_state=7)
    folds = [test for _, test in splitter.split(features, labels)]
    for number, test in enumerate(folds):
        others = [fold for fold in folds if fold is not test]
        num_right = numpy.zeros(len(L2_PENALTIES))
        for validation in others:
            train = numpy.concatenate([fold for fold in others if fold is not validation])
            train.sort()
            for position, classifier in enumerate(fit_path(features[train], labels[train])):
                predicted = classifier.predict(features[validation])
                num_right[position] += (predicted == labels[validation]).sum()
        assert found.l2_penalties[number] == L2_PENALTIES[num_right.argmax()]
        train = numpy.sort(numpy.concatenate(others))
        (classifier,) = fit_path(features[train], labels[train], [found.l2_penalties[number]])
        assert (found.predicted[test] == classifier.predict(features[test])).all()
    assert len(set(found.l2_penalties)) > 1, "the data should make a difference between folds"


def test_cross_validation_on_the_training_data(examples):
    features, labels = examples
    found = Selection(LABELS, 5, 7, "test").with_cross_validation(
        Data(features[:60], labels[:60]), features[60:]
    )
    accuracies = numpy.zeros(len(L2_PENALTIES))
    splitter = StratifiedKFold(5, shuffle=True, random_state=7)
    for train, validation in splitter.split(features[:60], labels[:60]):
        for position, classifier in enumerate(fit_path(features[train], labels[train])):
            accuracies[position] += (
                classifier.predict(features[validation]) == labels[validation]
            ).sum()
    best = L2_PENALTIES[accuracies.argmax()]
    assert found.l2_penalties == [best]
    (classifier,) = fit_path(features[:60], labels[:60], [best])
    assert (found.predicted == classifier.predict(features[60:])).all()


def test_validation_data_choose(examples):
    features, labels = examples
    classifiers = list(fit_path(features[:40], labels[:40]))
    for target in classifiers:
        # The labels are those that one of the classifiers predicts, which is then the best.
        wanted = target.predict(features[40:60])
        best = [(one.predict(features[40:60]) == wanted).all() for one in classifiers].index(True)
        found = Selection(LABELS, 3, 1, "test").with_validation_data(
            Data(features[:40], labels[:40]), Data(features[40:60], wanted), features[60:]
        )
        assert found.l2_penalties == [L2_PENALTIES[best]]
        assert (found.predicted == classifiers[best].predict(features[60:])).all()


def test_no_example_sees_its_own_label():
    """A feature of its own for each example: only its own label could tell the answer."""
    labels = numpy.array(["a", "b"] * 20)
    found = nested(numpy.eye(40, dtype="f4"), labels, 5, 1)
    assert accuracy_score(labels, found.predicted) <= 0.5


def test_the_seed_decides_on_the_folds(examples):
    def run(seed):
        return nested(*examples, 4, seed)

    assert (run(1).predicted == run(1).predicted).all()
    assert run(1).l2_penalties == run(1).l2_penalties
    assert (run(1).predicted != run(2).predicted).any()


def test_too_few_examples_are_an_error():
    with pytest.raises(ConfigurationError, match="a label has 2 examples, too few for 3 folds"):
        nested(numpy.ones((6, 2)), numpy.array(["a"] * 4 + ["b"] * 2), 3, 1)
    with pytest.raises(ConfigurationError, match="there are 2 examples, too few for 3 folds"):
        nested(numpy.ones((2, 2)), numpy.array([1.0, 2.0]), 3, 1, grades(1, 2))


def test_scores_are_cross_validated():
    """Those of a line, with noise in the features; a plain mean of the scores correlates not."""
    random = numpy.random.default_rng(5)
    scores = random.uniform(0, 4, size=90)
    features = scores[:, None] + random.normal(size=(90, 3))
    found = nested(features, scores, 3, 1, grades(0, 4))
    assert numpy.corrcoef(found.predicted, scores)[0, 1] > 0.8
    selection = Selection(grades(0, 4), 3, 1, "test")
    predicted, _ = selection.with_cross_validation(Data(features[:60], scores[:60]), features[60:])
    assert numpy.corrcoef(predicted, scores[60:])[0, 1] > 0.8
    shuffled = nested(random.permutation(features), scores, 3, 1, grades(0, 4))
    assert abs(numpy.corrcoef(shuffled.predicted, scores)[0, 1]) < 0.4
