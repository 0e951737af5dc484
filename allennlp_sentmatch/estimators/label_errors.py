"""Pairs whose labels are probably wrong, for a person to look at."""

from typing import Any, NamedTuple, Optional

import numpy
from sklearn.base import clone

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.estimators.examples import Examples, checked_examples
from allennlp_sentmatch.estimators.groups import divide
from allennlp_sentmatch.estimators.pair_classifier import PairClassifier
from allennlp_sentmatch.estimators.pairs import checked_pairs
from allennlp_sentmatch.files.texts import noting_pairs

NUM_FOLDS = 5


class LabelError(NamedTuple):
    """A pair whose label a classifier of other pairs finds improbable."""

    position: int
    """The pair's position, counted from 0."""
    label: Any
    """The label that was given."""
    probability: float
    """The probability of the given label."""
    expected: Any
    """The most probable label."""


def label_errors(
    pairs: Any,
    labels: Any,
    classifier: Optional[PairClassifier] = None,
    groups: Any = None,
) -> list[LabelError]:
    """Return the pairs to which a classifier of other pairs gives another label.

        for error in label_errors(pairs, labels)[:100]:
            print(pairs[error.position], error.label, "->", error.expected)

    The pair whose given label is the least probable comes first. Each pair is judged by a
    classifier that has learned from the pairs of the other folds, and from none of its own group:
    equal pairs, in either order of their sentences, are one group. There are five folds, or as many
    as the second most frequent label has groups, if these are fewer. A label of fewer groups than
    folds is not judged. docs/python.md says how many of the first hundred are wrong.

    # Parameters

    pairs, labels : `Any`
        N pairs and their labels, as `PairClassifier.fit` takes them.
    classifier : `PairClassifier`, optional (default = `None`)
        Copies of it are fitted. By default, it is `PairClassifier()`.
    groups : `Any`, optional (default = `None`)
        (N,), strings or numbers: pairs of a group, such as the pairs of a document, are judged by a
        classifier that has learned from none of them.

    # Raises

    `TypeError` or `ValueError`, naming the pair or the parameter; `ValueError` if no label can be
    judged.
    """
    classifier = PairClassifier() if classifier is None else classifier
    if not isinstance(classifier, PairClassifier):
        raise TypeError(f"classifier must be a PairClassifier, not {type(classifier).__name__}")
    examples = checked_examples(checked_pairs(pairs), labels, None, groups, numeric=False)
    classes, targets = _checked_labels(classifier, examples)
    folds = divide(examples.groups, targets, NUM_FOLDS, classifier.random_state)
    if not folds:
        raise ValueError(
            "label_errors needs two different pairs, or groups, of each of two labels; give it more"
        )
    errors = []
    # Warnings have the positions among all pairs.
    with noting_pairs(examples.first, examples.second):
        for held_out in folds:
            probabilities = _probabilities(classifier, examples, held_out)
            errors += _errors_of(held_out, probabilities, targets[held_out], classes)
    return sorted(errors, key=lambda error: error.probability)


def _checked_labels(classifier: PairClassifier, examples: Examples) -> tuple[Array, Array]:
    """Return all labels (C,), and the index (N,) of each example's label.

    Raise `ValueError`, as `fit` on all examples does, for an invalid label or parameter. The fits
    on folds would name the position in the fold.
    """
    judge = clone(classifier)
    judge._checked_parameters()
    targets, _ = judge._targets(examples.targets, examples.counts)
    return judge.classes_, targets


def _probabilities(classifier: PairClassifier, examples: Examples, held_out: Array) -> Array:
    """Return the probabilities (M, C) of the M examples held out, by a classifier of the others."""
    pairs = list(zip(examples.first, examples.second))
    rest = numpy.setdiff1d(numpy.arange(len(pairs)), held_out)
    judge = clone(classifier)
    learned = [pairs[position] for position in rest]
    judge.fit(learned, examples.targets[rest], groups=examples.groups[rest])
    probabilities: Array = judge.predict_proba([pairs[position] for position in held_out])
    return probabilities


def _errors_of(
    positions: Array,
    probabilities: Array,
    targets: Array,
    classes: Array,
) -> list[LabelError]:
    """Return the errors among M pairs, given the probabilities (M, C) of the labels `classes`.

    `positions` (M,) are their places among all pairs, and `targets` (M,) the indices of their
    labels.
    """
    names = classes.tolist()
    best = probabilities.argmax(axis=1)
    return [
        LabelError(
            int(positions[row]),
            names[targets[row]],
            float(probabilities[row, targets[row]]),
            names[best[row]],
        )
        for row in numpy.flatnonzero(best != targets)
    ]
