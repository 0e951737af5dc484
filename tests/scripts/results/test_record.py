"""Reports become rows of results, and incomplete ones are refused."""

import json

import pytest

from scripts.results import fill_tables, record
from tests.conftest import REPOSITORY


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function that writes reports, records them, and reads the file of results."""

    def run(kind, name, reports, *options):
        for file, report in reports.items():
            (tmp_path / file).write_text(json.dumps(report))
        paths = [tmp_path / file if kind == "transfer" else tmp_path for file in reports]
        words = ["", kind, tmp_path / "table.json", name, *paths, *options]
        monkeypatch.setattr("sys.argv", list(map(str, words)))
        record.main()
        return json.loads((tmp_path / "table.json").read_text())

    return run


def test_a_calibration_has_two_rows_for_each_name(run):
    names = ("expected_calibration_error", "adaptive_calibration_error", "negative_log_likelihood")
    measures = {**dict.fromkeys(names, 0.1), "bins": []}
    for name, temperature in (("one", 2.0), ("two", 3.0), ("one", 4.0)):
        before, after = ({**measures, "brier_score": score} for score in (0.4, 0.35))
        test = {
            "examples": 1000,
            "accuracy": 0.8,
            "before": before,
            "after": after,
        }
        report = {
            "temperature": temperature,
            "previous_temperature": 1.0,
            "test": test,
        }
        report["calibration"] = {"examples": 200}
        table = run("calibration", name, {"calibration.json": report})
    keys = ("name", "when", "temperature", "brier_score")
    found = [[row[key] for key in keys] for row in table["records"]]
    assert found == [
        ["two", "before", 1.0, 0.4],
        ["two", "after", 3.0, 0.35],
        ["one", "before", 1.0, 0.4],
        ["one", "after", 4.0, 0.35],
    ]
    for row in table["records"]:
        assert set(row) == set(table["columns"].values())


def test_trees_have_a_row_of_percents_for_each_kind_and_model(run):
    names = record.SIMPLE_TREES[:4]
    kinds = [*record.SIMPLE_TREES, "1.tar.gz", "2.tar.gz"]
    shares = [1.0, 0.3, 0.4, 0.35, 0.32, 0.305, 0.41]
    report = {
        "sentences": 9,
        "f1": {kind: dict.fromkeys(names, share) for kind, share in zip(kinds, shares)},
        "depth": dict.fromkeys(kinds, 4.26),
        "between_models": 0.6543,
    }
    run("trees", "SST", {"trees.json": report}, "--model", "z")
    run("trees", "SNLI", {"trees.json": report}, "--model", "z")
    table = run("trees", "SST", {"trees.json": report}, "--model", "a")
    rows = [(row["data"], row["trees"]) for row in table["records"]]
    of_snli = [("SNLI", trees) for trees in (*record.SIMPLE_TREES, "z")]
    of_sst = [("SST", trees) for trees in (*record.SIMPLE_TREES, "a", "z")]
    assert rows == of_snli + of_sst
    models = [row for row in table["records"] if row["trees"] == "a"]
    figures = {key: [30.5, 41.0] for key in names}
    assert models == [
        {
            "data": "SST",
            "sentences": 9,
            "trees": "a",
            **figures,
            "depth": [4.3, 4.3],
            "between_models": 65.4,
        }
    ]
    assert "| z | 30.5 to 41 | " in "".join(fill_tables.measured_blocks(table))


def test_a_study_becomes_a_table(run, tmp_path, monkeypatch):
    values = {"a": 1, "b": "x"}
    trial = {
        "state": "complete",
        "value": 0.75,
        "values": values,
        "best_epoch": 1,
        "epochs": 2,
    }
    report = {
        "command": """allennlp tune c.jsonnet s.json -o '{"a": 1}'""",
        "configuration": "c.jsonnet",
        "metric": "+map",
        "sampler": "grid",
        "seed": 0,
        "space": {
            "a": {"type": "int", "low": 1, "high": 3},
            "b": {"type": "categorical", "choices": {"x": {"c.d": 1}}},
        },
        "best": {**trial, "number": 1},
        "trials": [
            {"number": 0, "state": "interrupted", "value": None, "values": values},
            {**trial, "number": 1},
        ],
        "machine": {"threads": 1},
        "date": "2026-01-01",
    }
    monkeypatch.setattr(record, "revision", lambda: "abc")
    monkeypatch.setattr(record, "processor", lambda: "A")
    made = run("study", "MAP, %", {"study.json": report})
    assert made["space"]["b"]["choices"] == ["x"]
    assert made["trials"] == report["trials"][1:]
    monkeypatch.setattr(fill_tables, "REPOSITORY", tmp_path)
    text = fill_tables.blocks("table.json")
    header = "| `a` | `b` | validation MAP, % | best epoch |\n| --- | --- | --- | --- |\n"
    assert f"{header}| 1 | x | 75.0 | 1 of 2 |" in text
    assert "- Machine: processor A, threads 1\n- Revision: abc" in text
    assert report["command"] in text


def transfer(accuracy, average=None, metric="mr_accuracy", **errors):
    return {
        "metrics": {metric: accuracy},
        "average": average,
        "vector_size": 9,
        "errors": errors,
    }


def test_the_figures_of_a_transfer_s_seeds_become_a_list(run, tmp_path):
    empty = {
        "data": "SentEval",
        "vectors": "",
        "metrics": {"mr_accuracy": "MR, %"},
        "rows": [],
    }
    (tmp_path / "table.json").write_text(json.dumps(empty))
    reports = {"0.json": transfer(0.75, 70.0), "1.json": transfer(0.77, 72.004)}
    for model in ("BiLSTM", "LSTMN", "BiLSTM"):
        table = run("transfer", model, reports, "--command", "run it", "--seeds", "1", "3")
    row, other = table["rows"]
    assert row["model"] == "BiLSTM"
    assert other["model"] == "LSTMN"
    assert row["metrics"] == {"mr_accuracy": [0.75, 0.77], "average": [70.0, 72.0]}
    assert row["command"] == "run it"
    assert row["seeds"] == [1, 3]
    rows, *_ = fill_tables.result_blocks({"file": "", **table})
    assert "| BiLSTM | 76.0 ± 1.4 |" in rows


@pytest.mark.parametrize(
    ("reports", "seeds", "message"),
    [
        ([transfer(0.7, TREC="no file")], None, "failed tasks, or not the same"),
        ([transfer(0.7), transfer(0.7, metric="cr_accuracy")], [1, 2], "failed tasks, or not the"),
        ([transfer(0.7)] * 2, [1, 2, 3], "BiLSTM: 3 seeds for 2 reports"),
    ],
)
def test_incomplete_reports_are_refused(tmp_path, reports, seeds, message):
    with pytest.raises(ValueError, match=message):
        record.record_transfer(
            tmp_path / "table.json",
            "BiLSTM",
            reports,
            seeds=seeds,
        )


def test_the_published_rows_of_transfer_agree_with_the_configurations():
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
