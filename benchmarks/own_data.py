"""Compare each own_* configuration with the simplest method, by the number of examples.

    python -m benchmarks.own_data ../shared/data out/own_data --sizes 500 2000 --seeds 1

Each data set (`own_data_sets.py`) gives a number of examples, drawn at random, as one file. The
configuration holds out a fifth of them (a tenth if there are more than 2,000) to choose the epoch,
by the folds of docs/own_data.md, or of translations the first ones. The other methods learn from
all of them. All are tested on the whole test data:

- "simplest": of pairs with labels, a threshold for the cosine (`PairClassifier` with the matcher
  "cosine"); of scores, the bare cosine; of answers, their cosines with the question; of questions
  about a passage, the passage's sentence with the highest cosine; of sentences, a logistic
  regression of their vectors, its penalty chosen by cross-validation; of translations, the
  translation of the sentence with the nearest words (TF-IDF's cosine).
- "estimator": `PairClassifier` or `PairRegressor`. Answers are ranked by the probability of 1.

The figure is the accuracy of labels, Pearson's correlation of scores, the mean average precision of
answers, over the questions with a right answer, ROUGE-L of answers in free words, and BLEU of
translations, without regard to case. A seed draws the examples and seeds the training. Runs are
saved one by one, and existing runs are not measured again.
"""

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy
import pandas
from sacrebleu import BLEU
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import average_precision_score
from torch import device

from allennlp_sentmatch import PairClassifier, PairRegressor
from allennlp_sentmatch.training.metrics import AnswerOverlap
from benchmarks.few_labels import PACKAGE, Vectors
from benchmarks.own_data_sets import DATA_SETS, LANGUAGES, MOST, DataSet
from benchmarks.report import machine, write
from scripts.experiments import CONFIGURATIONS, REPOSITORY
from scripts.results.answer_baselines import sentencizer
from scripts.results.run_seeds import revision

RESULTS = REPOSITORY / "docs" / "results" / "own_data.json"
ALL = "all"
FEW = 2_000
"""Up to this number of examples, a fifth of them is held out to choose the epoch."""

METHODS = ("simplest", "estimator", "own")
TITLES = {
    "pairs": "accuracy, %",
    "scores": "Pearson",
    "sentences": "accuracy, %",
    "answers": "MAP, %",
    "questions": "ROUGE-L",
    "translation": "BLEU",
}
FIGURES = {
    "pairs": "accuracy",
    "sentences": "accuracy",
    "scores": "pearson",
    "answers": "map",
    "questions": "rouge_l",
    "translation": "BLEU",
}
WITH_ESTIMATOR = ("pairs", "scores", "answers")
"""The kinds of examples that `PairClassifier` or `PairRegressor` learns."""
PAIR_COLUMNS = {"sentence1": "text_a", "sentence2": "text_b"}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "pairs": {**PAIR_COLUMNS, "label": "label"},
    "scores": {**PAIR_COLUMNS, "score": "label"},
    "sentences": {"text": "text", "label": "label"},
    "answers": {"question": "question", "candidate": "candidate", "label": "label"},
    "questions": {"question": "question", "passage": "passage", "answers": "answers"},
}
ALLENNLP = Path(sys.executable).with_name("allennlp")
FEW_MERGES = 1000
"""The pairs to merge in subwords of few translations."""
LOWEST_SCORES = {"STS-B": 0, "SICK": 1}
COLUMNS = {
    "configuration": "configuration",
    "data": "data",
    "examples": "examples",
    "figure": "figure",
    "simplest": "simplest_text",
    "`PairClassifier`, `PairRegressor`": "estimator_text",
    "`own_*`": "own_text",
    "seeds": "seeds_text",
    "CPU minutes of `own_*`": "minutes",
}


def mean_average_precision(table: pandas.DataFrame, scores: Any) -> float:
    """Return the mean over the questions with a right answer; `scores` (N,) are of the lines."""
    precisions = []
    is_right = table["label"].astype(int)
    scored = pandas.DataFrame({"right": is_right, "score": scores})
    for _, lines in scored.groupby(table["question"]):
        if lines["right"].any():
            precisions.append(average_precision_score(lines["right"], lines["score"]))
    return float(numpy.mean(precisions))


def pairs_of(table: pandas.DataFrame) -> Any:
    """Return the first two columns as pairs (N, 2)."""
    return table.iloc[:, :2].to_numpy()


def cosines(vectors: Vectors, table: pandas.DataFrame) -> Any:
    """Return the cosine of each pair (N,)."""
    u, v = (vectors.encode(table.iloc[:, side].tolist()) for side in (0, 1))
    lengths = numpy.linalg.norm(u, axis=1) * numpy.linalg.norm(v, axis=1)
    return (u * v).sum(axis=1) / lengths


def nearest_sentences(vectors: Vectors, table: pandas.DataFrame) -> list[str]:
    """Return, for each question, the sentence of the passage with the highest cosine."""
    found = []
    for question, passage in zip(table["question"], table["passage"]):
        sentences = [sentence.text.strip() for sentence in sentencizer()(passage).sents]
        pairs = pandas.DataFrame({"question": question, "sentence": filter(None, sentences)})
        found.append(pairs["sentence"][int(cosines(vectors, pairs).argmax())])
    return found


def rouge_l(table: pandas.DataFrame, predicted: list[str]) -> float:
    """Return the mean overlap with the nearest of the right answers, from 0 to 100."""
    overlap = AnswerOverlap()
    overlap(predicted, table["answers"].tolist())
    return float(overlap.get_metric()["rouge_l"])


def nearest_translations(train: pandas.DataFrame, test: pandas.DataFrame) -> list[str]:
    """Return, for each sentence, the translation of the known sentence with the nearest words."""
    source, target = LANGUAGES
    vectorizer = TfidfVectorizer().fit(train[source])
    known = vectorizer.transform(train[source])
    nearest = (vectorizer.transform(test[source]) @ known.T).toarray().argmax(axis=1)
    return list(train[target].iloc[nearest])


def bleu(table: pandas.DataFrame, predicted: list[str]) -> float:
    """Return the BLEU of lower-cased translations, from 0 to 100."""
    references = table[LANGUAGES[1]].tolist()
    return float(BLEU(lowercase=True).corpus_score(predicted, [references]).score)


def simplest(kind: str, train: pandas.DataFrame, test: pandas.DataFrame, vectors: Vectors) -> float:
    """Return the figure of the simplest method."""
    if kind == "sentences":
        features = vectors.encode(train["text"].tolist())
        regression = LogisticRegressionCV(max_iter=1000).fit(features, train["label"])
        return float(regression.score(vectors.encode(test["text"].tolist()), test["label"]))
    if kind == "pairs":
        classifier = PairClassifier(vectors, matcher="cosine")
        return float(classifier.fit(pairs_of(train), train["label"]).score(*tested(test)))
    if kind == "questions":
        return rouge_l(test, nearest_sentences(vectors, test))
    if kind == "translation":
        return bleu(test, nearest_translations(train, test))
    found = cosines(vectors, test)
    if kind == "scores":
        return float(numpy.corrcoef(found, test["label"])[0, 1])
    return mean_average_precision(test, found)


def tested(table: pandas.DataFrame) -> tuple[Any, Any]:
    """Return pairs and their labels."""
    return pairs_of(table), table["label"]


def estimator(
    kind: str, train: pandas.DataFrame, test: pandas.DataFrame, vectors: Vectors
) -> float:
    """Return the figure of `PairClassifier` or `PairRegressor`."""
    pairs = pairs_of(train)
    if kind == "scores":
        predicted = PairRegressor(vectors).fit(pairs, train["label"]).predict(pairs_of(test))
        return float(numpy.corrcoef(predicted, test["label"])[0, 1])
    classifier = PairClassifier(vectors)
    if kind == "pairs":
        return float(classifier.fit(pairs, train["label"]).score(*tested(test)))
    classifier.fit(pairs, train["label"].astype(int))
    return mean_average_precision(test, classifier.predict_proba(pairs_of(test))[:, 1])


def write_configuration(
    kind: str, name: str, folder: Path, train: pandas.DataFrame, test: pandas.DataFrame
) -> Path:
    """Write the examples and a configuration, as docs/own_data.md says; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    number = 5 if len(train) <= FEW else 10
    if kind == "translation":
        arguments = translation_arguments(folder, train, len(train) // number)
        test_path = write_translations(folder / "test", test)
    else:
        path = write_examples(folder / "examples", train)
        test_path = write_examples(folder / "test", test)
        arguments = {
            "train": {"path": path, "folds": {"number": number, "drop": [0]}},
            "validation": {"path": path, "folds": {"number": number, "keep": [0]}},
            **ARGUMENTS[kind],
        }
    if kind == "scores":
        arguments["lowest"] = LOWEST_SCORES[name]
    called = ", ".join(f"{key}={json.dumps(value)}" for key, value in arguments.items())
    tests = {"test_data_path": test_path, "evaluate_on_test": True}
    config = folder / "own.jsonnet"
    imported = json.dumps(str(CONFIGURATIONS / f"own_{kind}.jsonnet"))
    config.write_text(f"(import {imported})({called}) + {json.dumps(tests)}\n", encoding="utf-8")
    return config


def write_examples(path: Path, table: pandas.DataFrame) -> str:
    """Write a file of examples, with a suffix for its format; return its absolute path.

    Lists of answers need JSON lines; the others are tables with tabs.
    """
    if "answers" in table:
        file = path.with_suffix(".jsonl")
        table.to_json(file, orient="records", lines=True)
        return str(file.resolve())
    file = path.with_suffix(".tsv")
    texts = table.astype(str).replace(r"\s+", " ", regex=True)
    lines = ["\t".join(texts.columns), *("\t".join(row) for row in texts.to_numpy())]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(file.resolve())


def translation_arguments(
    folder: Path, table: pandas.DataFrame, num_held_out: int
) -> dict[str, Any]:
    """Write aligned files and the subwords of those to learn from; return the arguments."""
    path = write_translations(folder / "train", table.iloc[num_held_out:])
    subwords = folder / "bpe.json"
    subwords.unlink(missing_ok=True)
    command: list[Any] = [ALLENNLP, "learn-bpe", subwords, "--lowercase"]
    if len(table) <= FEW:
        command += ["--merges", FEW_MERGES]
    for language in LANGUAGES:
        command += ["--text", language, folder / f"train.{language}"]
    subprocess.run(list(map(str, command)), check=True, cwd=REPOSITORY)
    return {
        "train": path,
        "validation": write_translations(folder / "validation", table.iloc[:num_held_out]),
        "bpe": str(subwords.resolve()),
    }


def write_translations(path: Path, table: pandas.DataFrame) -> str:
    """Write two aligned files; return their absolute path with both languages in braces."""
    for language in LANGUAGES:
        lines = "".join(f"{text}\n" for text in table[language])
        path.with_suffix(f".{language}").write_text(lines, encoding="utf-8")
    return f"{path.resolve()}.{{{','.join(LANGUAGES)}}}"


def own(config: Path, figure: str, seed: int) -> dict[str, Any]:
    """Train a configuration; return its figures and its CPU minutes."""
    output = config.parent / "out"
    seeds = dict.fromkeys(("random_seed", "numpy_seed", "pytorch_seed"), seed)
    command: list[Any] = [
        ALLENNLP,
        "train",
        config,
        "-s",
        output,
        "-o",
        json.dumps(seeds),
        "--force",
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (config.parent / "log.txt").open("w", encoding="utf-8") as log:
        subprocess.run(command, stdout=log, stderr=log, check=True, cwd=REPOSITORY)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    metrics = json.loads((output / "metrics.json").read_text(encoding="utf-8"))
    (output / "model.tar.gz").unlink()
    return {
        "own": metrics[f"test_{figure}"],
        "validation": metrics[f"best_validation_{figure}"],
        "best_epoch": metrics["best_epoch"] + 1,
        "epochs": metrics["epoch"] + 1,
        "minutes": seconds / 60,
    }


def measure(
    kind: str, name: str, size: str, seed: int, data: DataSet, folder: Path
) -> Iterator[dict[str, Any]]:
    """Yield the figures of a draw of examples, one method after the other."""
    train = data.drawn(MOST if size == ALL else int(size), seed)
    vectors = Vectors(PACKAGE, folder)
    yield {"learned": len(train), "simplest": simplest(kind, train, data.test, vectors)}
    if kind in WITH_ESTIMATOR:
        start = time.process_time()
        figure = estimator(kind, train, data.test, vectors)
        yield {"estimator": figure, "estimator_seconds": time.process_time() - start}
    drawn = folder / f"{kind}-{re.sub(r'[^A-Za-z0-9]', '', name)}" / f"{size}-{seed}"
    config = write_configuration(kind, name, drawn, train, data.test)
    yield own(config, FIGURES[kind], seed)


def describe(record: dict[str, Any]) -> None:
    """Add what the table shows of the runs."""
    runs = list(record["runs"].values())
    percent = 100 if "%" in record["figure"] else 1
    digits = 3 if record["figure"] == "Pearson" else 1
    for method in METHODS:
        values = [percent * run[method] for run in runs if method in run]
        spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
        record[f"{method}_text"] = f"{statistics.mean(values):.{digits}f}{spread}" if values else ""
    minutes = [run["minutes"] for run in runs if "minutes" in run]
    record["minutes"] = statistics.mean(minutes) if minutes else None
    record["seeds_text"] = ", ".join(record["runs"])


def read_records() -> dict[str, dict[str, Any]]:
    """Return the records of the file of results by their keys."""
    if not RESULTS.exists():
        return {}
    records = json.loads(RESULTS.read_text(encoding="utf-8"))["records"]
    return {record["key"]: record for record in records}


def save(kind: str, name: str, size: str, seed: int, run: dict[str, Any]) -> None:
    """Put the figures of a run into the file of results, and print the table."""
    records = read_records()
    key = key_of(kind, name, size)
    learned = run["learned"]
    new = {
        "key": key,
        "configuration": f"own_{kind}",
        "data": name,
        "examples": f"all {learned:,}" if size == ALL else f"{int(size):,}",
        "figure": TITLES[kind],
        "runs": {},
    }
    record = records.setdefault(key, new)
    record["runs"][str(seed)] = run
    describe(record)
    made = [records[one] for one in in_order(records)]
    write(RESULTS, machine(device("cpu")), made, COLUMNS)


def main() -> None:
    """Run the measurements that are not in the file yet."""
    arguments = parse_arguments()
    commit = revision()
    for seed, size, kind in product(arguments.seeds, arguments.sizes, arguments.kinds):
        for name, read in DATA_SETS[kind].items():
            is_wanted = arguments.sets is None or name in arguments.sets
            known = read_records().get(key_of(kind, name, size), {"runs": {}})
            if not is_wanted or str(seed) in known["runs"]:
                continue
            run: dict[str, Any] = {"revision": commit}
            data = read(arguments.data)
            for figures in measure(kind, name, size, seed, data, arguments.output):
                run.update(figures)
            save(kind, name, size, seed, run)


def key_of(kind: str, name: str, size: str) -> str:
    """Return what identifies a record."""
    return f"{kind} {name} {size}"


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--sizes", nargs="+", default=["500", "2000", ALL])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--kinds", nargs="+", default=list(DATA_SETS), choices=list(DATA_SETS))
    parser.add_argument("--sets", nargs="+", help="by default all")
    return parser.parse_args()


def in_order(keys: Iterable[str]) -> list[str]:
    """Return the keys of records in the order of the data sets, smaller sizes first."""
    names = [f"{kind} {name}" for kind, sets in DATA_SETS.items() for name in sets]

    def place(key: str) -> tuple[int, int]:
        name, _, size = key.rpartition(" ")
        return names.index(name), MOST if size == ALL else int(size)

    return sorted(keys, key=place)


if __name__ == "__main__":
    main()
