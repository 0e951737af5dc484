"""Count how often a threshold that is chosen for a precision reaches it on other pairs.

    python -m benchmarks.sure_thresholds ../shared/data

The encoder, data sets and classifier are the same as in `benchmarks.calibrated_similarity`. Each
of a hundred draws has equal numbers of pairs with the label and without it, from at most 4,000
training pairs; all are tested on the same test pairs, also at most 4,000, with weights by which
half of them have the label. The table has the number of draws in which
`threshold(precision, sure=True)` finds a threshold, how many of these thresholds reach the
precision on the test pairs, and how many of the hundred reach it without `sure`. Results are saved
one by one, and existing results are not computed again.
"""

from pathlib import Path
from typing import Any

import numpy

from allennlp_sentmatch import PairClassifier
from benchmarks.calibrated_similarity import measure_all, read
from benchmarks.few_labels import RESULTS, Pairs, Vectors

OUTPUT = RESULTS / "sure_thresholds.json"
SIZES = (64, 256)
PRECISIONS = (0.8, 0.9)
DRAWS = 100
MOST_PAIRS = 4000

COLUMNS = {
    "data": "data",
    "labels a class": "labels",
    "precision": "precision",
    "draws that find a threshold": "found",
    "of which reach it on test": "reached",
    "without `sure`": "reached_without",
}


def balanced_draw(labels: Pairs, size: int, seed: int) -> Pairs:
    """Return the positions of `size` pairs with the label and of as many without it."""
    rng = numpy.random.default_rng(seed)
    positions = [numpy.flatnonzero(labels == label) for label in (False, True)]
    return numpy.concatenate([rng.permutation(those)[:size] for those in positions])


def weighted_precision(found: Pairs, labels: Pairs) -> float:
    """Return the precision of the found pairs if half of all pairs had the label; 0 for none."""
    right = float(found[labels].mean())
    wrong = float(found[~labels].mean())
    return right / (right + wrong) if right else 0.0


def chosen_threshold(classifier: PairClassifier, precision: float, sure: bool) -> float:
    """Return the probability that the classifier chooses; infinity if none has the precision."""
    try:
        return classifier.threshold(precision=precision, sure=sure).probability
    except ValueError:
        return numpy.inf


def measure(name: str, size: int, data: Path, vectors: Vectors) -> list[dict[str, Any]]:
    """Return a record for each precision, over all draws of one size."""
    pairs, labels, test_pairs, test_labels = read(name, data, MOST_PAIRS)
    found = dict.fromkeys(PRECISIONS, 0)
    reached = dict.fromkeys(PRECISIONS, 0)
    reached_without = dict.fromkeys(PRECISIONS, 0)
    for seed in range(DRAWS):
        drawn = balanced_draw(labels, size, seed)
        classifier = PairClassifier(vectors, matcher="cosine").fit(pairs[drawn], labels[drawn])
        probabilities = classifier.predict_proba(test_pairs)[:, 1]
        for precision in PRECISIONS:
            sure = chosen_threshold(classifier, precision, sure=True)
            other = chosen_threshold(classifier, precision, sure=False)
            on_test, without = (
                weighted_precision(probabilities >= threshold, test_labels)
                for threshold in (sure, other)
            )
            found[precision] += bool(numpy.isfinite(sure))
            reached[precision] += on_test >= precision
            reached_without[precision] += without >= precision
    return [
        {
            "data": name,
            "labels": size,
            "precision": f"{precision:.0%}".replace("%", " %"),
            "found": found[precision],
            "reached": reached[precision],
            "reached_without": f"{reached_without[precision]} of {DRAWS}",
        }
        for precision in PRECISIONS
    ]


if __name__ == "__main__":
    measure_all(OUTPUT, COLUMNS, SIZES, measure)
