"""Thresholds, against an exhaustive search and scikit-learn; tests/estimators has the best F1."""

import numpy
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score

from allennlp_sentmatch.calibration.thresholds import decide, precision_threshold

NAMES = ["no", "yes"]


def columns(positive):
    positive = numpy.array(positive)
    return numpy.stack([1 - positive, positive], 1)


def noisy(seed, num_labels=2, num_examples=60):
    """Return probabilities with ties, and labels that often have the largest."""
    generator = numpy.random.default_rng(seed)
    probs = generator.dirichlet([0.7] * num_labels, size=num_examples).round(2)
    probs[:, 0] = 1 - probs[:, 1:].sum(-1)
    agrees = generator.uniform(size=num_examples) < 0.6
    by_chance = generator.integers(num_labels, size=num_examples)
    return probs, numpy.where(agrees, probs.argmax(-1), by_chance)


def test_the_precision_by_hand():
    """4 of 6 examples with "yes" have it; from 0.62 on 4 of 5, from 0.7 on 3 of 4, then 2 of 3."""
    probs = columns([0.3, 0.54, 0.62, 0.7, 0.8, 0.9, 0.95])
    labels = numpy.array([0, 0, 1, 1, 0, 1, 1])
    assert precision_threshold(probs, labels, 0.75, 1) == 0.58
    assert precision_threshold(probs, labels, 0.9, 1) == 0.85
    assert precision_threshold(probs, labels, 0.6, 1) == 0.0
    decisions = decide(probs, labels, 0.85, NAMES, "yes")
    assert decisions.undecided == pytest.approx(5 / 7)
    assert decisions.precision == 1.0
    assert decisions.recall == 0.5


THREE_NAMES = ["a", "b", "c"]


@pytest.mark.parametrize(("positive", "label"), [(None, None), (0, "a"), (1, "b")])
@pytest.mark.parametrize("seed", range(10))
def test_no_smaller_threshold_has_the_precision(seed, positive, label):
    probs, labels = noisy(seed, num_labels=3)
    wanted = decide(probs, labels, 0.0, THREE_NAMES, label).precision + 0.05
    candidates = []
    for score in probs.max(-1):
        precision = decide(probs, labels, score, THREE_NAMES, label).precision
        if precision is not None and precision >= wanted:
            candidates.append(score)
    threshold = precision_threshold(probs, labels, wanted, positive)
    if threshold is None:
        assert candidates == []
        return
    found = decide(probs, labels, threshold, THREE_NAMES, label)
    smallest = decide(probs, labels, min(candidates), THREE_NAMES, label)
    assert found.precision >= wanted
    assert found.undecided <= smallest.undecided
    assert threshold <= min(candidates)


def test_a_precision_that_is_not_reached():
    probs = columns([0.6, 0.7, 0.9])
    labels = numpy.array([1, 1, 0])
    assert precision_threshold(probs, labels, 0.9, 1) is None
    assert precision_threshold(1 - probs, labels, 0.5, 0) == 0.65
    assert precision_threshold(probs, labels, 0.5, 0) is None  # never predicted


def test_a_precision_that_is_not_defined():
    decisions = decide(columns([0.3, 0.6]), numpy.array([0, 0]), 0.9, NAMES, "yes")
    assert decisions.undecided == 1.0
    assert decisions.precision is None
    assert decisions.recall is None


def test_without_a_threshold_decisions_are_predictions():
    probs, labels = noisy(0)
    predicted = probs.argmax(-1)
    decisions = decide(probs, labels, 0.0, NAMES, "yes")
    assert decisions.undecided == 0
    assert decisions.precision == pytest.approx(precision_score(labels, predicted))
    assert decisions.recall == pytest.approx(recall_score(labels, predicted))
    assert decisions.f1 == pytest.approx(f1_score(labels, predicted))
    accuracy = pytest.approx((predicted == labels).mean())
    of_all_labels = decide(probs, labels, 0.0, NAMES)
    assert of_all_labels.precision == accuracy
    assert of_all_labels.recall == accuracy
    assert of_all_labels.f1 == accuracy
