import json
import sys

from scripts.results import record_calibration

MEASURES = dict.fromkeys(
    ("expected_calibration_error", "adaptive_calibration_error", "negative_log_likelihood"), 0.1
)


def test_two_rows_for_each_name(tmp_path, monkeypatch):
    file = tmp_path / "table.json"
    for name, temperature in (("one", 2.0), ("two", 3.0), ("one", 4.0)):
        report = {
            "temperature": temperature,
            "previous_temperature": 1.0,
            "calibration": {"examples": 200},
            "test": {
                "examples": 1000,
                "accuracy": 0.8,
                "before": {**MEASURES, "brier_score": 0.4, "bins": []},
                "after": {**MEASURES, "brier_score": 0.35, "bins": []},
            },
        }
        (tmp_path / "calibration.json").write_text(json.dumps(report))
        monkeypatch.setattr(sys, "argv", ["", str(file), name, str(tmp_path)])
        record_calibration.main()
    table = json.loads(file.read_text())
    keys = ("name", "when", "temperature", "brier_score")
    assert [tuple(row[key] for key in keys) for row in table["records"]] == [
        ("two", "before", 1.0, 0.4),
        ("two", "after", 3.0, 0.35),
        ("one", "before", 1.0, 0.4),
        ("one", "after", 4.0, 0.35),
    ]
    for row in table["records"]:
        assert set(row) == set(table["columns"].values())
