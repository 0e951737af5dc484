"""Pairs whose labels are probably wrong, for a person to look at."""

from typing import Any, NamedTuple, Optional

import numpy
from sklearn.base import clone

from allennlp_sentmatch.corpora.vector_table import Array
from allennlp_sentmatch.estimators.examples import checked_examples
from allennlp_sentmatch.estimators.groups import divide
from allennlp_sentmatch.estimators.pair_classifier import PairClassifier
from allennlp_sentmatch.estimators.pairs import checked_pairs

NUM_FOLDS = 5


class LabelError(NamedTuple):
    """A pair whose label a classifier of other pairs finds improbable."""

    position: int
    """Of the pair, counted from 0."""
    label: Any
    """The label that was given."""
    probability: float
    """Of the given label."""
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
    classifier that has learned from the pairs of four folds of five, without those of its own
    group: equal pairs, in either order of their sentences, are one group. docs/python.md says how
    many of the first hundred are wrong. A label of fewer than five groups is not judged.

    # Parameters

    pairs, labels : `Any`
        N pairs and their labels, as `PairClassifier.fit` takes them.
    classifier : `PairClassifier`, optional (default = `None`)
        Copies of it are fitted. By default, it is `PairClassifier()`.
    groups : `Any`, optional (default = `None`)
        (N,), strings or numbers: pairs of a group, such as those of a document, are judged by a
        classifier that has learned from none of them.

    # Raises

    `TypeError` or `ValueError`, naming the pair; `ValueError` if no label can be judged.
    """
    classifier = PairClassifier() if classifier is None else classifier
    if not isinstance(classifier, PairClassifier):
        raise TypeError(f"classifier must be a PairClassifier, not {type(classifier).__name__}")
    examples = checked_examples(checked_pairs(pairs), labels, None, groups, numeric=False)
    texts = list(zip(examples.first, examples.second))
    values = examples.targets
    joined = examples.groups
    classes, targets = numpy.unique(values, return_inverse=True)
    folds = divide(joined, targets, NUM_FOLDS, classifier.random_state)
    if not folds:
        raise ValueError(
            "label_errors needs two different pairs, or groups, of each of two labels; give it more"
        )
    errors = []
    for held_out in folds:
        rest = numpy.setdiff1d(numpy.arange(len(texts)), held_out)
        fitted = clone(classifier)
        fitted.fit([texts[i] for i in rest], values[rest], groups=joined[rest])
        probabilities = fitted.predict_proba([texts[i] for i in held_out])
        errors += _errors_of(held_out, probabilities, targets[held_out], classes)
    return sorted(errors, key=lambda error: error.probability)


def _errors_of(
    positions: Array, probabilities: Array, targets: Array, classes: Array
) -> list[LabelError]:
    """Return the errors among M pairs, given the probabilities (M, C) of the labels `classes`."""
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
