"""The measurement with few labels leaves out unlabeled pairs and reports means and spreads."""

import gzip
import json

import pytest

from benchmarks import few_labels


def test_pairs_without_a_label_are_left_out(tmp_path):
    columns = few_labels.COLUMNS["SNLI"]
    rows = [("a dog", "a cat", label) for label in ("-", "entailment", "neutral")]
    path = tmp_path / "snli.jsonl.gz"
    lines = "".join(json.dumps(dict(zip(columns, row))) + "\n" for row in rows)
    path.write_bytes(gzip.compress(lines.encode()))
    pairs, labels = few_labels.read(path, columns)
    assert [(*pair, label) for pair, label in zip(pairs, labels)] == rows[1:]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ({"a": [0.5, 0.7], "b": [0.6, 0.9]}, {"a": "60.0 ± 14.1", "b": "75.0 ± 21.2", "p": "0.2"}),
        ({"a": [0.5], "b": [0.6]}, {"a": "50.0", "b": "60.0"}),
        ({"b": [0.5, 0.7]}, {"b": "60.0 ± 14.1"}),
    ],
)
def test_means_and_spreads(scores, expected):
    """t = 3 with one degree of freedom has p = 1 - 2 arctan(3) / pi = 0.205."""
    record = {f"scores_{name}": values for name, values in scores.items()}
    record["labels"] = "all" if len(scores[min(scores)]) == 1 else 8
    few_labels.describe(record, ["a", "b"])
    assert {key: record[key] for key in ("a", "b", "p") if key in record} == expected
