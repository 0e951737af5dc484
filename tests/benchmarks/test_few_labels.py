import gzip
import json
import sys

import numpy
import pytest

from benchmarks import few_labels

SCENES = [
    (f"a {color} {noun} runs", f"a {color} {noun} {verb}", label)
    for color in ("red", "blue", "old", "new", "big", "small", "wet", "dry", "hot")
    for noun in ("dog", "cat")
    for verb, label in (("runs", "entailment"), ("does not run", "contradiction"))
]


@pytest.fixture
def benchmark(monkeypatch):
    """The benchmark's module, for three data sets and few draws."""
    kept = ("SICK", "Linguist-in-the-loop", "SNLI")
    monkeypatch.setattr(few_labels, "SETS", {name: few_labels.SETS[name] for name in kept})
    monkeypatch.setattr(few_labels, "SIZES", (2, "all"))
    monkeypatch.setattr(few_labels, "DRAWS", 3)
    return few_labels


@pytest.fixture
def data(tmp_path, benchmark):
    """The same pairs as SICK, Linguist-in-the-loop and SNLI, which has one without a label."""
    for file in benchmark.SETS["SICK"]:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        rows = ["sentence_A\tsentence_B\tentailment_judgment"]
        rows += ["\t".join([*pair, label.upper()]) for *pair, label in SCENES]
        (tmp_path / file).write_text("\n".join(rows))
    for name in ("Linguist-in-the-loop", "SNLI"):
        rows = [("unclear", "unclear", "-"), *SCENES] if name == "SNLI" else SCENES
        for file in benchmark.SETS[name]:
            (tmp_path / file).parent.mkdir(exist_ok=True)
            with gzip.open(tmp_path / file, "wt") as lines:
                for row in rows:
                    print(json.dumps(dict(zip(benchmark.COLUMNS[name], row))), file=lines)
    return tmp_path


def test_pairs_without_a_label_are_left_out(benchmark, data):
    pairs, labels = benchmark.read(data / benchmark.SETS["SNLI"][0], benchmark.COLUMNS["SNLI"])
    assert [(*pair, label) for pair, label in zip(pairs, labels)] == SCENES


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"a": [0.5, 0.7], "b": [0.6, 0.9]}, {"a": "60.0 ± 14.1", "b": "75.0 ± 21.2", "p": "0.2"}),
        ({"a": [0.5], "b": [0.6]}, {"a": "50.0", "b": "60.0"}),
        ({"b": [0.5, 0.7]}, {"b": "60.0 ± 14.1"}),
    ],
)
def test_means_and_spreads(benchmark, scores, expected):
    """t = 3 with one degree of freedom has p = 1 - 2 arctan(3) / pi = 0.205."""
    record = {f"scores_{name}": values for name, values in scores.items()}
    record["labels"] = "all" if len(scores[min(scores)]) == 1 else 8
    benchmark.describe(record, ["a", "b"])
    assert {key: record[key] for key in ("a", "b", "p") if key in record} == expected


def test_what_is_measured_is_saved_and_not_measured_again(benchmark, data, monkeypatch):
    monkeypatch.setattr(benchmark, "RESULTS", data / "results")
    asked = []

    def encode(sentences):
        asked.extend(sentences)
        return numpy.array([[len(text), text.count("o"), 1.0] for text in sentences])

    monkeypatch.setattr(benchmark, "load", lambda name, folder: (encode, 0))
    command = ["few_labels.py", str(data), "ours", "--meaning", "other"]
    monkeypatch.setattr(sys, "argv", command)
    benchmark.main()
    results = {path.stem: path.read_text() for path in (data / "results").iterdir()}
    rows = {name: json.loads(text)["records"] for name, text in results.items()}
    few = {(row["data"], row["labels"]): row for row in rows["few_labels"]}
    assert list(few) == [(name, size) for name in benchmark.SETS for size in (2, "all")]
    assert len(few["SICK", 2]["scores_ours"]) == 3
    assert few["SICK", "all"]["scores_ours"] == [1.0]  # the lengths tell the labels apart
    assert few["SICK", "all"]["majority"] == "50.0"
    changes = [(row["encoder"], row["kind"]) for row in rows["meaning_pairs"]]
    kinds = ["negation", "roles", "numbers", "SICK's contradictions"]
    assert changes == [(name, kind) for name in ("ours", "other") for kind in kinds]
    of_sick = rows["meaning_pairs"][3]
    assert (of_sick["cosine"], of_sick["learned"]) == (1.0, 1.0)
    (other,) = rows["other_data"]
    assert (other["classifier"], other["own"], other["other"]) == ("ours", 100, 100)

    asked.clear()
    benchmark.main()
    assert asked == []
    again = {path.stem: path.read_text() for path in (data / "results").iterdir()}
    assert {name: json.loads(text)["records"] for name, text in again.items()} == rows
