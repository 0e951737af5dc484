r"""Measure `find_duplicates`: its exactness, its time, and the pairs that it merges.

The texts are the sentences of the data sets for learning (`scripts/encoder/data_sets.py`), in
random order. The result for the first of them is compared with the result of all their cosines,
taken text by text. Times are the processor's, on one thread, without the encoding. Pairs that mean
the same (Quora's duplicates, MSRP's paraphrases) should be merged. Pairs that differ in a negation
(ScoNe's sentences with one and without it, WikiFactCheck's negated claims) or in a number (a number
of a text plus 1) should not be. The classifier is fitted to pairs of MSRP's training data, and to
duplicates of Quora and negated claims of WikiFactCheck that are not tested. Further pairs are
sentences with one word changed (`changed_words.py`).

    python -m benchmarks.duplicates ../shared/data
"""

import argparse
import csv
import gzip
import re
import time
from pathlib import Path
from typing import Any, Optional

import numpy
import torch

from allennlp_sentmatch import PairClassifier, SentenceEncoder
from allennlp_sentmatch.corpora.duplicates import CANDIDATE_COSINE, find_duplicates
from allennlp_sentmatch.corpora.turned_texts import TurnedTexts
from allennlp_sentmatch.corpora.word_comparison import decisive_words
from allennlp_sentmatch.standalone.vectors import normalized
from benchmarks.changed_words import of_the_same_meaning, turned
from benchmarks.report import RESULTS, machine, write
from scripts.encoder.data_sets import FREE, RESTRICTED

THRESHOLD = 0.9
NUM_COMPARED = 20_000
NUM_TEXTS = 160_000
"""How many texts have their words changed."""
NUM_TRAINING_PAIRS = 600, 400, 400
"""Pairs of MSRP, Quora and WikiFactCheck, each."""
NUM_PAIRS = 1000

PAIR_COLUMNS = {
    "pairs": "pairs",
    "number": "number",
    "are duplicates": "are_duplicates",
    "cosine alone, % merged": "cosine",
    "cosine with `compare_words`, %": "cosine_and_words",
    "classifier alone, %": "classifier",
    "classifier with `compare_words`, %": "classifier_and_words",
}
TIME_COLUMNS = {
    "texts": "texts",
    "removed": "removed",
    "CPU seconds to compare": "seconds",
    "equal to all pairs": "exact",
}


class Encoded:
    """Gives texts the vectors that were computed once."""

    def __init__(self, texts: list[str], vectors: Any) -> None:
        self._rows = {text: row for row, text in enumerate(texts)}
        self._vectors = vectors

    def encode(self, texts: list[str]) -> Any:
        """Return the vectors (N, E) of N texts."""
        return self._vectors[[self._rows.get(text, 0) for text in texts]]


def by_all_pairs(texts: list[str], vectors: Any) -> list[tuple[int, int]]:
    """Return the removed texts, each with the kept one, from the cosines of all pairs."""
    vectors = normalized(vectors).astype(numpy.float64)
    words = [decisive_words(text) for text in texts]
    turned = TurnedTexts([one.words for one in words], [one.poles for one in words])
    removed: dict[int, int] = {}
    for start in range(0, len(texts), 500):
        products = vectors[start : start + 500] @ vectors[: start + 500].T
        products = products.astype(numpy.float32)
        for number, row in enumerate(products, start):
            near = numpy.flatnonzero(row[:number] >= numpy.float32(THRESHOLD)).tolist()
            kept = [
                i
                for i in near
                if i not in removed
                and words[i].must_be_equal == words[number].must_be_equal
                and not turned.exclude(numpy.array([i]), numpy.array([number]))[0]
            ]
            if kept:
                removed[number] = max(kept, key=lambda i: (row[i], -i))
    return list(removed.items())


def pairs_of(data: Path, texts: list[str]) -> dict[str, tuple[bool, list[tuple[str, str]]]]:
    """Return the kinds of pairs, and whether they are duplicates."""

    def rows(name: str, **options: Any) -> list[dict[str, str]]:
        opened = gzip.open if name.endswith(".gz") else open
        with opened(data / name, "rt", encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file, **options))

    scone = [
        (row["sentence1"], row["sentence1_edited"]) for row in rows("scone/test.no_negation.csv.gz")
    ]
    tabs = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    facts = rows("wikifactcheck/negated.tsv.gz", **tabs)
    quora = rows("quora/quora_duplicates_only.csv.gz")
    msrp = rows("msrp/msr_paraphrase_test.txt", **tabs)
    numbered: list[tuple[str, str]] = []
    for text in texts:
        changed = re.sub(r"\b\d{1,4}\b", lambda match: str(int(match[0]) + 1), text, count=1)
        if changed != text:
            numbered.append((text, changed))
    negated = [(row["sentence"], row["negated"]) for row in facts]
    paraphrases = [(row["#1 String"], row["#2 String"]) for row in msrp if row["Quality"] == "1"]
    others = [(row["#1 String"], row["#2 String"]) for row in msrp if row["Quality"] == "0"]
    return {
        "Quora's duplicates": (True, [(row["question1"], row["question2"]) for row in quora]),
        "MSRP's paraphrases": (True, paraphrases),
        "MSRP's other pairs": (False, others),
        "a number changed": (False, numbered),
        "ScoNe, a negation added": (False, list(dict.fromkeys(scone))),
        "WikiFactCheck, negated": (False, negated),
        "another form of a word": (True, of_the_same_meaning(texts)),
    } | {name: (False, pairs) for name, pairs in turned(texts)}


def same_words(pairs: list[tuple[str, str]]) -> Any:
    """Return whether the words of P pairs permit duplicates, (P,)."""
    words = [decisive_words(text) for pair in pairs for text in pair]
    equal = [one.must_be_equal == two.must_be_equal for one, two in zip(words[::2], words[1::2])]
    turned = TurnedTexts([one.words for one in words], [one.poles for one in words])
    first = numpy.arange(0, 2 * len(pairs), 2)
    return numpy.array(equal) & ~turned.exclude(first, first + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of the data sets")
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="*",
        default=[20_000, 40_000, 80_000, 160_000],
        help="the numbers of texts whose comparison is timed; none leaves the times out",
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    info = machine(torch.device("cpu"))
    data_sets = {**FREE, **RESTRICTED}.values()
    texts = list(dict.fromkeys(s for one in data_sets for s in one.sentences(options.data) if s))
    numpy.random.default_rng(0).shuffle(texts)
    encoder = SentenceEncoder()
    if options.sizes:
        measure_time(texts[: max(options.sizes)], encoder, options.sizes, info)
    measure_pairs(options.data, texts[:NUM_TEXTS], encoder, info)


def measure_time(
    texts: list[str], encoder: SentenceEncoder, sizes: list[int], info: dict[str, Any]
) -> None:
    """Write the table of times for some numbers of texts."""
    vectors = encoder.encode(texts)
    records: list[dict[str, Any]] = []
    for size in sorted(sizes):
        encoded = Encoded(texts[:size], vectors)
        begin = time.process_time()
        result = find_duplicates(texts[:size], THRESHOLD, encoder=encoded)
        seconds = time.process_time() - begin
        exact: Optional[bool] = None
        if size <= NUM_COMPARED:
            found = [(one.position, one.kept_position) for one in result.filtered]
            exact = found == by_all_pairs(texts[:size], vectors)
        records.append(
            {
                "texts": size,
                "removed": len(result.filtered),
                "seconds": seconds,
                "exact": exact,
            }
        )
        write(RESULTS / "duplicates_cpu", info, records, TIME_COLUMNS)


def measure_pairs(
    data: Path, texts: list[str], encoder: SentenceEncoder, info: dict[str, Any]
) -> None:
    """Write the table of merged pairs; some are made from the texts."""
    tested = pairs_of(data, texts)
    with open(data / "msrp/msr_paraphrase_train.txt", encoding="utf-8-sig") as file:
        msrp = [*csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    num_msrp, num_quora, num_facts = NUM_TRAINING_PAIRS
    learned = [((row["#1 String"], row["#2 String"]), row["Quality"]) for row in msrp[:num_msrp]]
    learned += [(pair, "1") for pair in tested["Quora's duplicates"][1][-num_quora:]]
    learned += [(pair, "0") for pair in tested["WikiFactCheck, negated"][1][-num_facts:]]
    pairs, labels = zip(*learned)
    classifier = PairClassifier().fit(pairs, [int(label) for label in labels])
    rows = []
    for name, (are_duplicates, pairs) in tested.items():
        chosen = pairs[:NUM_PAIRS]
        similarity = encoder.similarity(*zip(*chosen))
        equal = same_words(chosen)
        decided = classifier.predict_proba(chosen)[:, 1] >= 0.5
        near = similarity >= THRESHOLD
        decided &= similarity >= CANDIDATE_COSINE
        rows.append(
            {
                "pairs": name,
                "number": len(chosen),
                "are_duplicates": "yes" if are_duplicates else "no",
                "cosine": 100 * near.mean(),
                "cosine_and_words": 100 * (near & equal).mean(),
                "classifier": 100 * decided.mean(),
                "classifier_and_words": 100 * (decided & equal).mean(),
            }
        )
    write(RESULTS / "duplicate_pairs", info, rows, PAIR_COLUMNS)


if __name__ == "__main__":
    main()
