"""Put the figures of an `allennlp calibrate --test-file ...` into a table of the documentation.

    python -m scripts.results.record_calibration docs/results/calibration.json SICK \
        out/calibrated/sick

OUTPUT is the folder that the command made. `fill_tables.py` makes the table.
"""

import argparse
import json
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

COLUMNS = {
    "data and model": "name",
    "calibration examples": "calibration_examples",
    "temperature": "temperature",
    "test examples": "test_examples",
    "test accuracy": "accuracy",
    "probabilities": "when",
    "expected calibration error": "expected_calibration_error",
    "adaptive calibration error": "adaptive_calibration_error",
    "negative log-likelihood": "negative_log_likelihood",
    "Brier score": "brier_score",
}


def records(name: str, report: dict[str, Any]) -> list[dict[str, Any]]:
    """Two rows: the measures on the test data before and after the calibration."""
    test = report["test"]
    temperatures = {"before": report["previous_temperature"], "after": report["temperature"]}
    return [
        {
            "name": name,
            "calibration_examples": report["calibration"]["examples"],
            "test_examples": test["examples"],
            "accuracy": test["accuracy"],
            "when": when,
            "temperature": temperature,
            **{key: value for key, value in test[when].items() if key != "bins"},
        }
        for when, temperature in temperatures.items()
    ]


def main() -> None:
    """Replace the rows of a name."""
    parser = argparse.ArgumentParser(description="Record a calibration's figures.")
    parser.add_argument("table", type=Path, help="a JSON file of results")
    parser.add_argument("name", help="the data and the model")
    parser.add_argument("output", type=Path, help="the folder that `allennlp calibrate` made")
    arguments = parser.parse_args()
    report = json.loads((arguments.output / "calibration.json").read_text(encoding="utf-8"))
    old = arguments.table.read_text(encoding="utf-8") if arguments.table.exists() else "{}"
    others = json.loads(old).get("records", [])
    others = [record for record in others if record["name"] != arguments.name]
    table = {
        "machine": {"torch": version("torch"), "date": date.today().isoformat()},
        "columns": COLUMNS,
        "records": [*others, *records(arguments.name, report)],
    }
    text = json.dumps(table, indent=2, ensure_ascii=False)
    arguments.table.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
