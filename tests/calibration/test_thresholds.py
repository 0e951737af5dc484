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
    """Probabilities with ties, and labels that often have the largest."""
    generator = numpy.random.default_rng(seed)
    probs = generator.dirichlet([0.7] * num_labels, size=num_examples).round(2)
    probs[:, 0] = 1 - probs[:, 1:].sum(-1)
    labels = numpy.where(
        generator.uniform(size=num_examples) < 0.6,
        probs.argmax(-1),
        generator.integers(num_labels, size=num_examples),
    )
    return probs, labels


def test_the_precision_by_hand():
    """4 of 6 examples with "yes" have it; from 0.62 on 4 of 5, from 0.7 on 3 of 4, then 2 of 3."""
    probs = columns([0.3, 0.54, 0.62, 0.7, 0.8, 0.9, 0.95])
    labels = numpy.array([0, 0, 1, 1, 0, 1, 1])
    assert precision_threshold(probs, labels, 0.75, 1) == 0.58
    assert precision_threshold(probs, labels, 0.9, 1) == 0.85
    assert precision_threshold(probs, labels, 0.6, 1) == 0.0
    decisions = decide(probs, labels, 0.85, NAMES, "yes")
    assert decisions.undecided == pytest.approx(5 / 7)
    assert (decisions.precision, decisions.recall) == (1.0, 0.5)


@pytest.mark.parametrize("positive", [None, 0, 1])
@pytest.mark.parametrize("seed", range(10))
def test_no_smaller_threshold_has_the_precision(seed, positive):
    probs, labels = noisy(seed, num_labels=3)
    names = ["a", "b", "c"]
    label = None if positive is None else names[positive]

    def precision(threshold):
        return decide(probs, labels, threshold, names, label).precision

    wanted = precision(0.0) + 0.05
    threshold = precision_threshold(probs, labels, wanted, positive)
    candidates = [score for score in probs.max(-1) if (precision(score) or 0) >= wanted]
    if threshold is None:
        assert candidates == []
    else:
        assert precision(threshold) >= wanted
        undecided = decide(probs, labels, threshold, names, label).undecided
        smallest = decide(probs, labels, min(candidates), names, label).undecided
        assert undecided <= smallest
        assert all(threshold <= score for score in candidates)


def test_a_precision_that_is_not_reached_or_defined():
    probs = columns([0.6, 0.7, 0.9])
    assert precision_threshold(probs, numpy.array([1, 1, 0]), 0.9, 1) is None
    assert precision_threshold(1 - probs, numpy.array([1, 1, 0]), 0.5, 0) == 0.65
    assert precision_threshold(probs, numpy.array([1, 1, 0]), 0.5, 0) is None  # never predicted
    decisions = decide(columns([0.3, 0.6]), numpy.array([0, 0]), 0.9, NAMES, "yes")
    assert (decisions.undecided, decisions.precision, decisions.recall) == (1.0, None, None)


def test_without_a_threshold_decisions_are_predictions():
    probs, labels = noisy(0)
    decisions = decide(probs, labels, 0.0, NAMES, "yes")
    predicted = probs.argmax(-1)
    assert decisions.undecided == 0
    assert decisions.precision == pytest.approx(precision_score(labels, predicted))
    assert decisions.recall == pytest.approx(recall_score(labels, predicted))
    assert decisions.f1 == pytest.approx(f1_score(labels, predicted))
    accuracy = (predicted == labels).mean()
    every = decide(probs, labels, 0.0, NAMES)
    assert (every.precision, every.recall, every.f1) == pytest.approx([accuracy] * 3)
