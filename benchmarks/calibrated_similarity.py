"""Calibrate an encoder's similarity with few labels.

    python -m benchmarks.calibrated_similarity ../shared/data

The encoder is the package's. The pairs are from SICK (entailment against the rest), MSRP
(paraphrases) and BANKING77 (whether two questions have the same intent: half of the pairs, at
random). Each of ten draws has some random pairs, at least two of each label, from 1,000 pairs of
the training set. All are tested on the same 1,000 test pairs. For the probabilities, the table has
the expected calibration error (15 bins) and the Brier score, the mean squared error of the second
label's probability: for the cosine itself, cut off at 0, and for
`PairClassifier(matcher="cosine")`.

For each draw, a threshold for a precision of 80 % is chosen: the table has the number of draws that
reach it in cross-validation, the mean precision on the test pairs, and how many intervals contain
that precision. The last two columns have the number of draws that reach it with `sure`, and how
many of these reach it on the test pairs. Results are saved one by one, and existing results are not
computed again.
"""

import argparse
import csv
import gzip
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, Callable

import numpy
from sklearn.metrics import brier_score_loss
from torch import device

from allennlp_sentmatch import PairClassifier, SentenceEncoder
from allennlp_sentmatch.calibration.reliability import measure_reliability
from benchmarks.few_labels import DRAWS, PACKAGE, RESULTS, Pairs, Vectors, read_set
from benchmarks.report import machine, write

OUTPUT = RESULTS / "calibrated_similarity.json"
SIZES = (8, 16, 32, 64, 128, 256)
SETS = ("SICK", "MSRP", "BANKING77")
MOST_PAIRS = 1000
PRECISION = 0.8

COLUMNS = {
    "data": "data",
    "labels": "labels",
    "cosine, ECE": "cosine_ece",
    "calibrated, ECE": "ece",
    "cosine, Brier": "cosine_brier",
    "calibrated, Brier": "brier",
    "draws that reach 80 %": "reached",
    "precision on test, %": "precision",
    "intervals with it": "covered",
    "sure draws": "sure",
    "of which reach it on test": "sure_reached",
}


def banking_pairs(path: Path, count: int) -> tuple[Pairs, Pairs]:
    """Return `count` pairs of questions, and whether they have the same intent: half of them do."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    texts = numpy.array([row["text"] for row in rows], dtype=object)
    intents = numpy.array([row["category"] for row in rows])
    rng = numpy.random.default_rng(0)
    pairs: list[tuple[str, str]] = []
    for first in rng.permutation(len(rows))[:count]:
        wanted = (intents == intents[first]) == bool(len(pairs) % 2)
        wanted[first] = False
        pairs.append((texts[first], texts[rng.choice(numpy.flatnonzero(wanted))]))
    return numpy.array(pairs, dtype=object), numpy.arange(len(pairs)) % 2 == 1


def read(name: str, data: Path, most: int = MOST_PAIRS) -> tuple[Pairs, Pairs, Pairs, Pairs]:
    """Return at most `most` pairs to learn from with their labels, and as many to test with."""
    if name == "BANKING77":
        train, test = (data / "banking77" / f"{part}.csv.gz" for part in ("train", "test"))
        return *banking_pairs(train, most), *banking_pairs(test, most)
    pairs, labels, test_pairs, test_labels = read_set(name, data)
    kept = numpy.random.default_rng(0).permutation(len(pairs))[:most]
    tested = numpy.random.default_rng(0).permutation(len(test_pairs))[:most]
    right = "ENTAILMENT" if name == "SICK" else "1"
    return pairs[kept], labels[kept] == right, test_pairs[tested], test_labels[tested] == right


def draw(labels: Pairs, size: int, rng: numpy.random.Generator) -> Pairs:
    """Return `size` positions, with two or more of each label."""
    while True:
        drawn = rng.permutation(len(labels))[:size]
        if 2 <= labels[drawn].sum() <= size - 2:
            return drawn


def reliability(probabilities: Pairs, labels: Pairs) -> tuple[float, float]:
    """Return the expected calibration error and the Brier score of probabilities (N,)."""
    both = numpy.stack([1 - probabilities, probabilities], axis=1)
    error = measure_reliability(both, labels.astype(int)).expected_calibration_error
    return error, float(brier_score_loss(labels, probabilities))


def reached_precision(
    classifier: PairClassifier, sure: bool, probabilities: Pairs, labels: Pairs
) -> list[tuple[float, tuple[float, float]]]:
    """Return the chosen threshold's precision on test pairs, with its interval, if there is one."""
    try:
        chosen = classifier.threshold(precision=PRECISION, sure=sure)
    except ValueError:
        return []
    found = probabilities >= chosen.probability
    return [(float(labels[found].mean()), chosen.interval)] if found.any() else []


def measure(name: str, size: int, data: Path, vectors: Vectors) -> list[dict[str, Any]]:
    """Return a record with the figures of all draws of one size."""
    pairs, labels, test_pairs, test_labels = read(name, data)
    first, second = test_pairs.T
    cosines = SentenceEncoder(vectors).similarity(first, second).clip(0, 1)
    figures = []
    chosen = []
    sure = []
    for seed in range(DRAWS):
        drawn = draw(labels, size, numpy.random.default_rng(seed))
        classifier = PairClassifier(vectors, matcher="cosine").fit(pairs[drawn], labels[drawn])
        probabilities = classifier.predict_proba(test_pairs)[:, 1]
        figures.append(reliability(probabilities, test_labels))
        chosen += reached_precision(classifier, False, probabilities, test_labels)
        sure += reached_precision(classifier, True, probabilities, test_labels)
    precisions = [precision for precision, _ in chosen]
    own = [f"{mean:.3f} ± {std:.3f}" for mean, std in zip(*_mean_and_deviation(figures))]
    error, brier = reliability(cosines, test_labels)
    record = {
        "data": name,
        "labels": size,
        "cosine_ece": f"{error:.3f}",
        "cosine_brier": f"{brier:.3f}",
        "ece": own[0],
        "brier": own[1],
        "reached": len(precisions),
        "precision": f"{100 * numpy.mean(precisions):.1f}" if precisions else "",
        "covered": sum(low <= precision <= high for precision, (low, high) in chosen),
        "sure": len(sure),
        "sure_reached": sum(precision >= PRECISION for precision, _ in sure),
    }
    return [record]


def _mean_and_deviation(figures: list[tuple[float, float]]) -> tuple[Any, Any]:
    return numpy.mean(figures, axis=0), numpy.std(figures, axis=0, ddof=1)


def measure_all(
    output: Path,
    columns: dict[str, str],
    sizes: Sequence[int],
    measure: Callable[[str, int, Path, Vectors], list[dict[str, Any]]],
) -> None:
    """Measure each data set with each size, and write the records that `output` lacks."""
    parser = argparse.ArgumentParser(description=f"Measure, and write {output.name}.")
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    records = json.loads(output.read_text("utf-8"))["records"] if output.exists() else []
    vectors = Vectors(PACKAGE, data)
    for name, size in product(SETS, sizes):
        if not any((one["data"], one["labels"]) == (name, size) for one in records):
            records += measure(name, size, data, vectors)
            write(output, machine(device("cpu")), records, columns)


if __name__ == "__main__":
    measure_all(OUTPUT, COLUMNS, SIZES, measure)
