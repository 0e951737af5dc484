"""Recording the figures of a calibration."""

import json
import sys

import pytest

from scripts import record_calibration

MEASURES = {
    "expected_calibration_error": 0.1,
    "adaptive_calibration_error": 0.2,
    "negative_log_likelihood": 0.3,
    "brier_score": 0.4,
}


def report(temperature):
    return {
        "temperature": temperature,
        "previous_temperature": 1.0,
        "calibration": {"examples": 200},
        "test": {
            "examples": 1000,
            "accuracy": 0.8,
            "before": {**MEASURES, "bins": []},
            "after": {**MEASURES, "brier_score": 0.35, "bins": []},
        },
    }


@pytest.fixture
def record(tmp_path, monkeypatch):
    def run(name, temperature):
        (tmp_path / "calibration.json").write_text(json.dumps(report(temperature)))
        file = tmp_path / "table.json"
        monkeypatch.setattr(sys, "argv", ["", str(file), name, str(tmp_path)])
        record_calibration.main()
        return json.loads(file.read_text())

    return run


def test_two_rows_for_each_name(record):
    record("one", 2.0)
    record("two", 3.0)
    table = record("one", 4.0)
    rows = [(row["name"], row["when"], row["temperature"]) for row in table["records"]]
    assert rows == [
        ("two", "before", 1.0),
        ("two", "after", 3.0),
        ("one", "before", 1.0),
        ("one", "after", 4.0),
    ]
    for row in table["records"]:
        assert set(row) == set(table["columns"].values())
    assert [row["brier_score"] for row in table["records"]] == [0.4, 0.35, 0.4, 0.35]
