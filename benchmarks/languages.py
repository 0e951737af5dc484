"""Compare ways to read Persian and Japanese without a model of the language.

    python -m benchmarks.languages ../shared/data

On FarsTail's test pairs (accuracy) and JSTS's validation pairs (Pearson's correlation), it compares
the package's English encoder with counts of character n-grams: their cosines, and `PairClassifier`
and `PairRegressor` trained on the training pairs.
"""

import argparse
import csv
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
from scipy.stats import pearsonr
from sklearn.feature_extraction.text import HashingVectorizer
from torch import device

from allennlp_sentmatch import PairClassifier, PairRegressor, SentenceEncoder
from benchmarks.report import machine, write
from scripts.experiments import REPOSITORY

OUTPUT = REPOSITORY / "docs" / "results" / "languages.json"
COLUMNS = {
    "what": "what",
    "training pairs": "pairs",
    "FarsTail test, accuracy in %": "farstail",
    "JSTS validation, Pearson": "jsts",
}


class CharacterNgrams:
    """Counts of character n-grams, which know no language."""

    def __init__(self) -> None:
        self.counts = HashingVectorizer(analyzer="char_wb", ngram_range=(1, 4), n_features=1024)

    def encode(self, sentences: list[str]) -> Any:
        """Return the vectors (N, 1024)."""
        return self.counts.transform(sentences).toarray()


def read(path: Path, columns: tuple[str, str, str]) -> tuple[list[tuple[str, str]], list[Any]]:
    """Return the pairs of a file, and their labels or scores."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = (
            map(json.loads, file) if ".jsonl" in path.name else csv.DictReader(file, delimiter="\t")
        )
        table = [[row[name] for name in columns] for row in rows]
    return [(first, second) for first, second, _ in table], [label for _, _, label in table]


def records(data: Path) -> Iterator[dict[str, Any]]:
    """Yield a record for each way."""
    persian, japanese = (
        [read(data / folder / name, columns) for name in names]
        for folder, names, columns in (
            (
                "farstail",
                ("Train-word.csv.gz", "Test-word.csv.gz"),
                ("premise", "hypothesis", "label"),
            ),
            (
                "jsts",
                ("train-v1.3.jsonl.gz", "valid-v1.3.jsonl.gz"),
                ("sentence1", "sentence2", "label"),
            ),
        )
    )
    (pairs, labels), (test_pairs, test_labels) = persian
    (scored, scores), (test_scored, test_scores) = japanese
    majority = max(Counter(test_labels).values()) / len(test_labels)
    yield {"what": "the most frequent label", "farstail": 100 * majority}
    encoders: dict[str, Any] = {
        "character n-grams": CharacterNgrams(),
        "the English encoder": SentenceEncoder(),
    }
    for name, encoder in encoders.items():
        first, second = map(list, zip(*test_scored))
        cosines = SentenceEncoder(encoder).similarity(first, second)
        yield {"what": f"cosine of {name}", "jsts": pearsonr(cosines, test_scores)[0]}
    for name, encoder in encoders.items():
        settings: dict[str, Any] = {"encoder": encoder, "compare_words": False}
        classifier = PairClassifier(**settings).fit(pairs, labels)
        regressor = PairRegressor(**settings, matcher="symmetric").fit(scored, scores)
        yield {
            "what": f"classifier and regressor over {name}",
            "pairs": f"{len(pairs):,} and {len(scored):,}",
            "farstail": 100 * float(numpy.mean(classifier.predict(test_pairs) == test_labels)),
            "jsts": pearsonr(regressor.predict(test_scored), test_scores)[0],
        }


def main() -> None:
    """Run the measurements and write the results."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("data", type=Path)
    made = [*records(parser.parse_args().data)]
    write(OUTPUT, machine(device("cpu")), made, COLUMNS)


if __name__ == "__main__":
    main()
