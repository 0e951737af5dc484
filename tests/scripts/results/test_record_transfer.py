import json
import sys
from pathlib import Path

import pytest

from scripts.results import fill_tables, record_transfer
from tests.conftest import REPOSITORY


def report(accuracy, average=None, metric="mr_accuracy", **errors):
    return {"metrics": {metric: accuracy}, "average": average, "vector_size": 9, "errors": errors}


def test_the_figures_of_the_seeds_become_a_list(tmp_path, monkeypatch):
    table = {"data": "SentEval", "vectors": "", "metrics": {"mr_accuracy": "MR, %"}, "rows": []}
    files = [str(tmp_path / name) for name in ("table.json", "0.json", "1.json")]
    for file, content in zip(files, (table, report(0.75, 70.0), report(0.77, 72.004))):
        Path(file).write_text(json.dumps(content))
    for model in ("BiLSTM", "LSTMN", "BiLSTM"):
        words = ["", files[0], model, *files[1:], "--command", "run it", "--seeds", "1", "3"]
        monkeypatch.setattr(sys, "argv", words)
        record_transfer.main()
    table = json.loads(Path(files[0]).read_text())
    row, other = table["rows"]
    assert (row["model"], other["model"]) == ("BiLSTM", "LSTMN")
    assert row["metrics"] == {"mr_accuracy": [0.75, 0.77], "average": [70.0, 72.0]}
    assert (row["command"], row["seeds"]) == ("run it", [1, 3])
    rows, *_ = fill_tables.result_blocks(table)
    assert "| BiLSTM | 76.0 ± 1.4 |" in rows


@pytest.mark.parametrize(
    ("reports", "seeds", "message"),
    [
        ([report(0.7, TREC="no file")], None, "failed tasks, or not the same"),
        ([report(0.7), report(0.7, metric="cr_accuracy")], [1, 2], "failed tasks, or not the same"),
        ([report(0.7)] * 2, [1, 2, 3], "BiLSTM: 3 seeds for 2 reports"),
    ],
)
def test_incomplete_reports_are_refused(reports, seeds, message):
    with pytest.raises(ValueError, match=message):
        record_transfer.record({"rows": []}, "BiLSTM", reports, seeds=seeds)


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
