"""Small data sets with known answers, in the files of the published ones."""

from pathlib import Path

import numpy

NUM_EXAMPLES = 12
"""For each label of a task."""

WORDS = ("good", "bad", "place", "person", "number", "red", "green")
"""The words on which the labels depend."""


def write_small_data(folder: Path) -> Path:
    """Write all ten tasks' files. The labels and scores depend on the sentences' `WORDS`."""
    _write_sentences(folder)
    _write_questions(folder)
    _write_trees(folder)
    _write_paraphrases(folder)
    _write_sick(folder)
    _write_sts(folder)
    return folder


def _write_sentences(folder: Path) -> None:
    opinions = {"neg": "bad", "pos": "good"}
    for subfolder, name, labels in (
        ("MR", "rt-polarity", opinions),
        ("cr", "custrev", opinions),
        ("subj", "subj", {"objective": "number", "subjective": "good"}),
        ("mpqa", "mpqa", opinions),
    ):
        for label, word in labels.items():
            _write(folder, f"{subfolder}/{name}.{label}", _sentences(word, name))


def _write_questions(folder: Path) -> None:
    labels = {"LOC:city": "place", "HUM:ind": "person", "NUM:date": "number"}
    for name, prefix in (("train_5500", "q"), ("TREC_10", "t")):
        lines = []
        for label, word in labels.items():
            lines += [f"{label} {sentence}" for sentence in _sentences(word, prefix)]
        _write(folder, f"trec/{name}.label", lines)


def _write_trees(folder: Path) -> None:
    for name in ("train", "dev", "test"):
        trees = []
        for number in range(NUM_EXAMPLES):
            trees.append(f"(4 (2 {name}{number}) (3 good))")
            trees.append(f"(0 (2 {name}{number}) (1 bad))")
            trees.append("(2 (3 good) (1 bad))")
        _write(folder, f"sst/{name}.txt", trees)


def _write_paraphrases(folder: Path) -> None:
    header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"
    for name in ("train", "test"):
        rows = [header]
        for number, first, second in _pairs():
            quality = int(first == second)
            rows.append(f"{quality}\t{number}\t{number + 1}\t{first} {name}\t{second} {number}")
        _write(folder, f"msrp/msr_paraphrase_{name}.txt", rows)


def _write_sick(folder: Path) -> None:
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    for name in ("train", "trial", "test_annotated"):
        rows = [header]
        for number, first, second in _pairs():
            judgment = "4.5\tENTAILMENT" if first == second else "1.5\tNEUTRAL"
            rows.append(f"{number}\t{first} {name}\t{second} {number}\t{judgment}")
        _write(folder, f"sick/SICK_{name}.txt", rows)


def _write_sts(folder: Path) -> None:
    for name in ("train", "dev", "test"):
        rows = []
        for number, first, second in _pairs():
            score = 5.0 if first == second else 0.0
            rows.append(f"g\tf\t2012\t{number}\t{score}\t{first} {name}\t{second}")
        _write(folder, f"sts/STSBenchmark/sts-{name}.csv", rows)


def encode_words(sentences: list[str]) -> numpy.ndarray:
    """Return for each sentence which of the `WORDS` it has."""
    return numpy.array([[word in s.split() for word in WORDS] for s in sentences], "f4")


def _sentences(word: str, prefix: str) -> list[str]:
    return [f"{prefix}{number} is {word}" for number in range(NUM_EXAMPLES)]


def _pairs() -> list[tuple[int, str, str]]:
    """Numbers and pairs of words; half of the pairs are of the same word."""
    colors = ("red", "green")
    return [
        (number, colors[number % 2], colors[(number + number // 2) % 2])
        for number in range(2 * NUM_EXAMPLES)
    ]


def _write(folder: Path, name: str, lines: list[str]) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
