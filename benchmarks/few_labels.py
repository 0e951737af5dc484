"""Compare classifiers of pairs that learned from few labels.

    python -m benchmarks.few_labels ../shared/data all-MiniLM-L6-v2 package

The classifiers are `PairClassifier` with the encoder of the package, and logistic regression of
MiniLM's [u; v; |u - v|; u * v], its penalty chosen in the same way. Each of ten draws has equally
many pairs of each label, from at most 600 of each label in the training set; "all" is the whole
training set, once. All are tested on the whole test set. WikiQA's figure is the area under the ROC
curve, since 5 % of its pairs are right; the others' figure is accuracy. p is from a paired t-test
over the draws.

A second table has pairs whose meaning depends on a word or two (`meaning_pairs.py`): the area under
the ROC curve of the cosine, and of a classifier that learned from the pairs of other scenes, in
five folds; the classifier is given the scenes as groups. SICK's test pairs with the labels
contradiction and entailment are added, for which the classifier has learned from SICK's training
pairs. `--meaning` names further encoders for this table.

A third table is for other data than the classifiers' training data: 20,000 pairs of
Linguist-in-the-loop, tested on its validation set and on SNLI's test set.

Results are saved one by one, and existing results are not computed again.
"""

import argparse
import csv
import gzip
import json
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy
from scipy.stats import ttest_rel
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GroupKFold
from torch import device

from allennlp_sentmatch import FineTuning, PairClassifier, SentenceEncoder
from benchmarks.distillation import load
from benchmarks.meaning_pairs import rows as meaning_pairs
from benchmarks.report import machine, write
from scripts.experiments import REPOSITORY

RESULTS = REPOSITORY / "docs" / "results"
PACKAGE = "package"
SIZES = (8, 16, 32, 64, 256, "all")
DRAWS = 10
POOL = 600

SETS = {
    "SICK": ("sick/SICK_train.txt", "sick/SICK_test_annotated.txt"),
    "MSRP": ("msrp/msr_paraphrase_train.txt", "msrp/msr_paraphrase_test.txt"),
    "WikiQA": ("wikiqa/WikiQA-train.tsv.gz", "wikiqa/WikiQA-test.tsv.gz"),
    "Linguist-in-the-loop": (
        "ling_in_loop/litl_train.snli_keys.jsonl.gz",
        "ling_in_loop/litl_val.snli_keys.jsonl.gz",
    ),
    "SNLI": ("snli/snli_1.0_train_first1024.jsonl.gz", "snli/snli_1.0_test.jsonl.gz"),
}
COLUMNS = {
    "SICK": ("sentence_A", "sentence_B", "entailment_judgment"),
    "MSRP": ("#1 String", "#2 String", "Quality"),
    "WikiQA": ("Question", "Sentence", "Label"),
    "Linguist-in-the-loop": ("sentence1", "sentence2", "gold_label"),
    "SNLI": ("sentence1", "sentence2", "gold_label"),
}

Pairs = numpy.ndarray[Any, Any]


class Vectors:
    """An encoder that remembers the vectors of its sentences."""

    def __init__(self, name: str, data: Path) -> None:
        if name == PACKAGE:
            encoder: Any = SentenceEncoder()
            self._encode = encoder.encode
            self.word_coverage = encoder.network.word_coverage
        else:
            self._encode = load(name, data)[0]
        self._vectors: dict[str, Any] = {}

    def encode(self, sentences: list[str]) -> Any:
        """Return the vectors (N, E)."""
        new = [text for text in dict.fromkeys(sentences) if text not in self._vectors]
        self._vectors.update(zip(new, self._encode(new) if new else ()))
        return numpy.stack([self._vectors[text] for text in sentences])


def read(path: Path, columns: tuple[str, ...]) -> tuple[Pairs, Pairs]:
    """Return the pairs (N, 2) and labels (N,) of a table or of JSON lines."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        rows: Iterator[dict[str, str]] = (
            map(json.loads, file)
            if ".jsonl" in path.name
            else csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        )
        table = numpy.array([[row[name] for name in columns] for row in rows], dtype=object)
    table = table[table[:, 2] != "-"]  # pairs of SNLI without an agreed label
    return table[:, :2], table[:, 2].astype(str)


def read_set(name: str, data: Path) -> tuple[Pairs, Pairs, Pairs, Pairs]:
    """Return the pairs and labels of the training set and of the test set."""
    (train, labels), (test, test_labels) = (read(data / p, COLUMNS[name]) for p in SETS[name])
    return train, labels, test, test_labels


def few_labels(
    name: str, data: Path, vectors: Vectors, words: bool, sizes: list[Any]
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the figures of one encoder on one data set, for some numbers of labels."""
    pairs, labels, test_pairs, test_labels = read_set(name, data)
    order = numpy.random.default_rng(0).permutation(len(pairs))
    pools = [order[labels[order] == label][:POOL] for label in numpy.unique(labels)]
    for size in sizes:
        scores = []
        seconds = []
        for draw in range(1 if size == "all" else DRAWS):
            rng = numpy.random.default_rng(draw)
            drawn = (
                order
                if size == "all"
                else numpy.concatenate([rng.permutation(pool)[:size] for pool in pools])
            )
            vectors.encode(pairs[drawn].ravel().tolist())  # not included in the seconds
            start = time.process_time()
            classifier = PairClassifier(vectors, compare_words=words)
            classifier.fit(pairs[drawn], labels[drawn])
            seconds.append(time.process_time() - start)
            probabilities = classifier.predict_proba(test_pairs)
            if name == "WikiQA":
                scores.append(roc_auc_score(test_labels, probabilities[:, 1]))
            else:
                best = classifier.classes_[probabilities.argmax(axis=1)]
                scores.append(accuracy_score(test_labels, best))
        majority = numpy.unique(test_labels, return_counts=True)[1].max() / len(test_labels)
        yield (
            size,
            {
                "scores": scores,
                "fit": float(numpy.mean(seconds)),
                "majority": f"{50 if name == 'WikiQA' else 100 * majority:.1f}",
            },
        )


def meaning(data: Path, vectors: Vectors, words: bool) -> Iterator[dict[str, Any]]:
    """Yield the areas under the ROC curve of one encoder on each kind of small changes."""
    classifier = PairClassifier(vectors, compare_words=words)
    kinds, scenes, first, second, labels = numpy.array([*meaning_pairs()], dtype=object).T
    pairs = numpy.stack([first, second], axis=1)
    same = labels == "same"
    cosines = SentenceEncoder(vectors).similarity(*pairs.T)
    learned = numpy.zeros(len(pairs))
    for rest, held_out in GroupKFold(5).split(pairs, groups=scenes):
        classifier.fit(pairs[rest], same[rest], groups=scenes[rest])
        learned[held_out] = classifier.predict_proba(pairs[held_out])[:, 1]
    for kind in dict.fromkeys(kinds):
        chosen = kinds == kind
        yield {
            "kind": kind,
            "cosine": roc_auc_score(same[chosen], cosines[chosen]),
            "learned": roc_auc_score(same[chosen], learned[chosen]),
        }
    pairs, labels, test_pairs, test_labels = read_set("SICK", data)
    kept = labels != "NEUTRAL"
    tested = test_labels != "NEUTRAL"
    same = test_labels[tested] == "ENTAILMENT"
    classifier.fit(pairs[kept], labels[kept])
    yield {
        "kind": "SICK's contradictions",
        "cosine": roc_auc_score(same, SentenceEncoder(vectors).similarity(*test_pairs[tested].T)),
        "learned": roc_auc_score(same, classifier.predict_proba(test_pairs[tested])[:, 1]),
    }


def other_data(data: Path, classifier: PairClassifier) -> dict[str, float]:
    """Return a classifier's accuracy, in %, on data like its training data, and on others."""
    pairs, labels, own_pairs, own_labels = read_set("Linguist-in-the-loop", data)
    _, _, test_pairs, test_labels = read_set("SNLI", data)
    kept = numpy.arange(len(pairs)) % 9 < 4
    start = time.process_time()
    classifier.fit(pairs[kept], labels[kept])
    return {
        "fit": time.process_time() - start,
        "own": 100 * classifier.score(own_pairs, own_labels),
        "other": 100 * classifier.score(test_pairs, test_labels),
    }


def describe(record: dict[str, Any], names: list[str]) -> None:
    """Add the table's summary of the scores."""
    scores = {name: record[f"scores_{name}"] for name in names if f"scores_{name}" in record}
    for name, own in scores.items():
        spread = f" ± {100 * numpy.std(own, ddof=1):.1f}" if len(own) > 1 else ""
        record[name] = f"{100 * numpy.mean(own):.1f}{spread}"
    if len(scores) == 2 and record["labels"] != "all":
        record["p"] = f"{ttest_rel(*scores.values()).pvalue:.2g}"


class Tables:
    """The records of the three tables, which are saved one by one."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        records = _saved("few_labels")
        self.by_size = {(record["data"], record["labels"]): record for record in records}
        self.changes = _saved("meaning_pairs")
        self.others = _saved("other_data")

    def save(self) -> None:
        """Write all tables that have records."""
        for record in self.by_size.values():
            describe(record, self.names)
        titles = {"data": "data", "labels a class": "labels", "majority, %": "majority"}
        for name in self.names:
            titles[f"{name}, %"] = name
        titles["p"] = "p"
        for name in self.names:
            titles[f"{name}, CPU seconds of fit"] = f"fit_{name}"
        order = [key for key in product(SETS, SIZES) if key in self.by_size]
        _write("few_labels", [self.by_size[key] for key in order], titles)
        _write("meaning_pairs", self.changes, MEANING_COLUMNS)
        _write("other_data", self.others, OTHER_COLUMNS)

    def add_changes(self, encoder: str, data: Path, vectors: Vectors) -> None:
        """Measure an encoder on small changes of meaning, unless that was done."""
        if not any(record["encoder"] == encoder for record in self.changes):
            made = meaning(data, vectors, encoder == PACKAGE)
            self.changes += [{"encoder": encoder, **record} for record in made]
            self.save()

    def add_other(self, name: str, data: Path, classifier: PairClassifier) -> None:
        """Measure a classifier on other data than its training data, unless that was done."""
        if not any(record["classifier"] == name for record in self.others):
            self.others.append({"classifier": name, **other_data(data, classifier)})
            self.save()

    def add_labels(self, name: str, encoder: str, data: Path, vectors: Vectors) -> None:
        """Measure an encoder on a data set, with the numbers of labels not measured yet."""
        sizes = []
        for size in SIZES:
            if f"scores_{encoder}" not in self.by_size.get((name, size), {}):
                sizes.append(size)
        for size, figures in few_labels(name, data, vectors, encoder == PACKAGE, sizes):
            record = self.by_size.setdefault((name, size), {"data": name, "labels": size})
            for key, value in figures.items():
                record[key if key == "majority" else f"{key}_{encoder}"] = value
            self.save()


MEANING_COLUMNS = {
    "encoder": "encoder",
    "change": "kind",
    "AUC of the cosine": "cosine",
    "AUC after learning": "learned",
}
OTHER_COLUMNS = {
    "classifier": "classifier",
    "Linguist-in-the-loop, %": "own",
    "SNLI, %": "other",
    "CPU seconds of fit": "fit",
}


def _saved(name: str) -> list[dict[str, Any]]:
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return []
    records: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["records"]
    return records


def _write(name: str, records: list[dict[str, Any]], columns: dict[str, str]) -> None:
    if records:
        write(RESULTS / f"{name}.json", machine(device("cpu")), records, columns)


def main() -> None:
    """Run the measurements and write the results."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("encoders", nargs="+", help=f"{PACKAGE}, or as distillation.py takes them")
    parser.add_argument(
        "--meaning",
        nargs="*",
        default=[],
        help="more, only for the second table",
    )
    parser.add_argument("--fine-tune", action="store_true", help="the package's, for the third one")
    arguments = parser.parse_args()
    names = arguments.encoders
    data = arguments.data
    tables = Tables(names)
    vectors = {name: Vectors(name, data) for name in [*names, *arguments.meaning]}
    for encoder, own in vectors.items():
        tables.add_changes(encoder, data, own)
    for encoder in names:
        classifier = PairClassifier(vectors[encoder], compare_words=encoder == PACKAGE)
        tables.add_other(encoder, data, classifier)
    for name, encoder in product(SETS, names):
        tables.add_labels(name, encoder, data, vectors[encoder])
    if arguments.fine_tune:
        tables.add_other(f"{PACKAGE}, fine-tuned", data, PairClassifier(head=FineTuning()))
    tables.save()


if __name__ == "__main__":
    main()
