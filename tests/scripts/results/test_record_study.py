import json
import sys

from scripts.results import fill_tables, record_study


def test_a_report_becomes_a_table(tmp_path, monkeypatch):
    values = {"a": 1, "b": "x"}
    trial = {"state": "complete", "value": 0.75, "values": values, "best_epoch": 1, "epochs": 2}
    command = """allennlp tune c.jsonnet s.json -o '{"a": 1}'"""
    report = {
        "command": command,
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
    (tmp_path / "study.json").write_text(json.dumps(report))
    file = tmp_path / "tune.json"
    monkeypatch.setattr(record_study.run_seeds, "revision", lambda: "abc")
    monkeypatch.setattr(record_study, "processor", lambda: "A")
    monkeypatch.setattr(sys, "argv", ["record_study.py", str(file), str(tmp_path), "MAP, %"])
    record_study.main()
    made = json.loads(file.read_text())
    assert made["space"]["b"]["choices"] == ["x"]
    assert made["trials"] == report["trials"][1:]
    monkeypatch.setattr(fill_tables, "REPOSITORY", tmp_path)
    text = fill_tables.blocks("tune.json")
    header = "| `a` | `b` | validation MAP, % | best epoch |\n| --- | --- | --- | --- |\n"
    assert f"{header}| 1 | x | 75.0 | 1 of 2 |" in text
    assert "- Machine: processor A, threads 1\n- Revision: abc" in text
    assert command in text
