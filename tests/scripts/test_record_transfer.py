"""Reports of `allennlp transfer` become rows of a table."""

import json
import sys

import pytest

from scripts import fill_tables, record_transfer
from tests.conftest import REPOSITORY


def report(accuracy, average=None, **errors):
    return {
        "metrics": {"mr_accuracy": accuracy},
        "average": average,
        "vector_size": 100,
        "errors": errors,
    }


def test_the_figures_of_the_seeds_become_a_list(tmp_path, monkeypatch):
    table = {"data": "SentEval", "vectors": "", "metrics": {"mr_accuracy": "MR, %"}, "rows": []}
    (tmp_path / "table.json").write_text(json.dumps(table))
    for number, one in enumerate([report(0.75, 70.0), report(0.77, 72.004)]):
        (tmp_path / f"{number}.json").write_text(json.dumps(one))
    files = [str(tmp_path / name) for name in ("table.json", "0.json", "1.json")]
    for model in ("BiLSTM", "LSTMN", "BiLSTM"):
        arguments = ["record_transfer.py", files[0], model, *files[1:], "--command", "run it"]
        arguments += ["--seeds", "1", "3"]
        monkeypatch.setattr(sys, "argv", arguments)
        record_transfer.main()
    table = json.loads((tmp_path / "table.json").read_text())
    assert [row["model"] for row in table["rows"]] == ["BiLSTM", "LSTMN"]
    assert table["rows"][0]["metrics"] == {"mr_accuracy": [0.75, 0.77], "average": [70.0, 72.0]}
    assert table["rows"][0]["command"] == "run it"
    assert table["rows"][0]["seeds"] == [1, 3]
    rows, *_ = fill_tables.result_blocks(table)
    assert "| BiLSTM | 76.0 ± 1.4 |" in rows


@pytest.mark.parametrize(
    "reports",
    [
        [report(0.7, TREC="no file")],
        [report(0.7), {**report(0.7), "metrics": {"cr_accuracy": 0.7}}],
    ],
)
def test_incomplete_reports_are_refused(reports):
    with pytest.raises(ValueError, match="failed tasks, or not the same"):
        record_transfer.record({"rows": []}, "BiLSTM", reports)


def test_seeds_and_reports_are_as_many():
    with pytest.raises(ValueError, match="BiLSTM: 3 seeds for 2 reports"):
        record_transfer.record({"rows": []}, "BiLSTM", [report(0.7)] * 2, seeds=[1, 2, 3])


def test_the_published_row_of_the_table_agrees_with_the_configurations():
    table = json.loads((REPOSITORY / "docs/results/transfer.json").read_text(encoding="utf-8"))
    names = ["MR", "CR", "SUBJ", "MPQA", "SST", "TREC", "SICK-R", "SICK-E", "STSB"]
    published = [row for row in table["rows"] if "published" in row["model"]]
    assert len(published) == 4
    for row in published:
        path = REPOSITORY / "training_config" / f"{row['configuration']}.jsonnet"
        line = path.read_text(encoding="utf-8").splitlines()[0]
        for name in names:
            metric = "pearson" if name in ("SICK-R", "STSB") else "accuracy"
            value = row["metrics"][f"{name.lower().replace('-', '_')}_{metric}"]
            shown = f"{value:.3f}" if metric == "pearson" else f"{100 * value:.1f}"
            assert f"{shown} {name}" in line
        accuracy, f1 = (row["metrics"][f"mrpc_{metric}"] for metric in ("accuracy", "f1"))
        assert f"{100 * accuracy:.1f}/{100 * f1:.1f} MRPC" in line
