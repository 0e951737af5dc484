"""Compare two choices of pairs to label, and measure how well `label_errors` finds wrong labels.

    python -m benchmarks.labeling ../shared/data

- 16 random pairs of a pool of 1,000 are labeled first. The classifier then chooses the pairs that
  it is the least certain of until there are 32, is fitted again, and so on to 256; "random" are
  random pairs instead. Each draw of ten has another pool, and both ways begin with the same pairs.
  Accuracy is of 1,000 test pairs. p is of a paired t-test over the draws.
- The labels of 5 % of 2,000 pairs are exchanged for another one. The precision at 100 is how many
  of the first hundred that `label_errors` returns have an exchanged label; other labels may be
  wrong in the data as published. The recall is the share of the exchanged labels among all that it
  returns.
"""

import argparse
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
from scipy.stats import ttest_rel
from torch import device

from allennlp_sentmatch import PairClassifier
from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.estimators.label_errors import label_errors
from benchmarks.few_labels import PACKAGE, Vectors
from benchmarks.own_data_sets import DATA_SETS, DataSet
from benchmarks.report import machine, write
from scripts.experiments import REPOSITORY

RESULTS = REPOSITORY / "docs" / "results"
NUM_POOL = 1_000
NUM_TESTED = 1_000
NUM_FIRST = 16
SIZES = (32, 64, 128, 256)
DRAWS = 10

NUM_LABELED = 2_000
EXCHANGED = 0.05
NUM_SHOWN = 100

CHOICE_COLUMNS = {
    "data": "data",
    "labels": "labels",
    "random pairs, %": "random",
    "least certain pairs, %": "chosen",
    "difference": "difference",
    "p": "p",
}
ERROR_COLUMNS = {
    "data": "data",
    "pairs": "pairs",
    "precision at 100, %": "precision",
    "returned": "returned",
    "recall, %": "recall",
    "CPU seconds": "seconds",
}


def drawn(data: DataSet, number: int, seed: int) -> tuple[Array, Array]:
    """Return pairs (N, 2) and labels (N,) of a data set's training examples."""
    table = data.drawn(number, seed)
    return table.iloc[:, :2].to_numpy(), table["label"].to_numpy().astype(str)


def accuracies(
    vectors: Vectors, pool: tuple[Array, Array], test: tuple[Array, Array], seed: int, chooses: bool
) -> Iterator[float]:
    """Yield the accuracy after each size of labels, which the classifier or chance chooses."""
    pairs, labels = pool
    rng = numpy.random.default_rng(seed)
    order = rng.permutation(len(pairs))
    labeled = order[:NUM_FIRST]
    classifier = PairClassifier(vectors).fit(pairs[labeled], labels[labeled])
    for size in SIZES:
        rest = numpy.setdiff1d(order, labeled)
        number = size - len(labeled)
        places = rng.permutation(len(rest))[:number]
        if chooses:
            places = least_certain(classifier, pairs[rest])[:number]
        labeled = numpy.concatenate([labeled, rest[places]])
        classifier.fit(pairs[labeled], labels[labeled])
        yield classifier.score(*test)


def least_certain(classifier: PairClassifier, pairs: Array) -> Array:
    """Return the positions (N,) of pairs, the closest two most probable labels first.

    This is margin sampling (Scheffer, Decomain and Wrobel 2001).
    """
    highest = numpy.sort(classifier.predict_proba(pairs), axis=1)[:, -2:]
    margins = highest[:, 1] - highest[:, 0]
    order: Array = margins.argsort(kind="stable")
    return order


def choices(name: str, data: DataSet, vectors: Vectors) -> Iterator[dict[str, Any]]:
    """Yield a row for each number of labels."""
    tested = data.test.sample(NUM_TESTED, random_state=0)
    test = tested.iloc[:, :2].to_numpy(), tested["label"].to_numpy().astype(str)
    runs: dict[bool, list[list[float]]] = {True: [], False: []}
    for seed in range(DRAWS):
        pool = drawn(data, NUM_POOL, seed)
        for chooses in runs:
            runs[chooses].append(list(accuracies(vectors, pool, test, seed, chooses)))
    chosen = 100 * numpy.array(runs[True])  # (draws, sizes)
    random = 100 * numpy.array(runs[False])
    for column, size in enumerate(SIZES):
        differences = chosen[:, column] - random[:, column]
        yield {
            "data": name,
            "labels": size,
            "random": spread(random[:, column]),
            "chosen": spread(chosen[:, column]),
            "difference": f"{differences.mean():+.1f}",
            "p": f"{ttest_rel(chosen[:, column], random[:, column]).pvalue:.2g}",
        }


def spread(figures: Array) -> str:
    """Return the mean and the standard deviation."""
    return f"{figures.mean():.1f} ± {statistics.stdev(figures):.1f}"


def errors(name: str, data: DataSet, vectors: Vectors) -> dict[str, Any]:
    """Return the row of a data set whose labels are exchanged in part."""
    pairs, labels = drawn(data, NUM_LABELED, 0)
    rng = numpy.random.default_rng(0)
    exchanged = rng.permutation(len(labels))[: int(EXCHANGED * len(labels))]
    given = labels.copy()
    for position in exchanged:
        others = numpy.setdiff1d(labels, labels[position])
        given[position] = rng.choice(others)
    start = time.process_time()
    found = [error.position for error in label_errors(pairs, given, PairClassifier(vectors))]
    shown = found[:NUM_SHOWN]
    return {
        "data": name,
        "pairs": f"{len(pairs):,}",
        "precision": f"{100 * numpy.isin(shown, exchanged).mean():.0f}",
        "returned": len(found),
        "recall": f"{100 * numpy.isin(exchanged, found).mean():.0f}",
        "seconds": time.process_time() - start,
    }


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("data", type=Path)
    arguments = parser.parse_args()
    chosen: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    for name, read in DATA_SETS["pairs"].items():
        data = read(arguments.data)
        vectors = Vectors(PACKAGE, arguments.data)
        found.append(errors(name, data, vectors))
        write(RESULTS / "label_errors.json", machine(device("cpu")), found, ERROR_COLUMNS)
        chosen += choices(name, data, vectors)
        write(RESULTS / "least_certain_pairs.json", machine(device("cpu")), chosen, CHOICE_COLUMNS)


if __name__ == "__main__":
    main()
