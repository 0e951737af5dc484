"""Put reports of `allennlp transfer` into a row of a table of results.

    allennlp transfer out/bilstm/1/model.tar.gz --data ../shared/data --output-file 1.json
    allennlp transfer out/bilstm/2/model.tar.gz --data ../shared/data --output-file 2.json
    python -m scripts.results.record_transfer docs/results/transfer.json "BiLSTM" 1.json 2.json \
        --configuration allnli_small/bilstm --command "allennlp transfer ..."

The figures of several reports, one per seed, become a list, of which `fill_tables.py` writes the
mean and the standard deviation. A row of the same name is replaced, but for the fields that are not
set here.
"""

import argparse
import json
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

DIGITS = 4


def record(table: dict[str, Any], model: str, reports: list[dict[str, Any]], **fields: Any) -> None:
    """Put the figures of reports and other fields into the row of a model.

    # Raises

    `ValueError` for reports that lack a task or have an error, as a mean of other seeds would
    mislead; and for another number of seeds than of reports.
    """
    seeds = fields.get("seeds")
    if seeds is not None and len(seeds) != len(reports):
        raise ValueError(f"{model}: {len(seeds)} seeds for {len(reports)} reports")
    names = [sorted(report["metrics"]) for report in reports]
    if any(report["errors"] for report in reports) or any(other != names[0] for other in names):
        raise ValueError(f"{model}: the reports have failed tasks, or not the same ones")
    figures = {name: [round(one["metrics"][name], DIGITS) for one in reports] for name in names[0]}
    averages = [report["average"] for report in reports]
    if None not in averages:
        figures["average"] = [round(average, 2) for average in averages]
    measured = {
        "model": model,
        "metrics": figures,
        "vector_size": reports[0]["vector_size"],
        "machine": {"scikit-learn": version("scikit-learn"), "numpy": version("numpy")},
        "date": date.today().isoformat(),
        **{name: value for name, value in fields.items() if value is not None},
    }
    row = next((row for row in table["rows"] if row["model"] == model), None)
    if row is None:
        table["rows"].append(measured)
    else:
        row.update(measured)


def main() -> None:
    """Record the reports of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("table", type=Path, help="a JSON file of results that exists")
    parser.add_argument("model", help="the name of the row")
    parser.add_argument("reports", type=Path, nargs="+", help="one for each seed")
    parser.add_argument("--seeds", type=int, nargs="+", help="those of the reports")
    parser.add_argument("--configuration", help="that the model was trained with")
    parser.add_argument("--command", help="that the reports were made with")
    parser.add_argument("--differs", help="what differs from the published experiment")
    options = parser.parse_args()
    table = json.loads(options.table.read_text(encoding="utf-8"))
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in options.reports]
    fields = {key: vars(options)[key] for key in ("seeds", "configuration", "command", "differs")}
    record(table, options.model, reports, **fields)
    text = json.dumps(table, indent=2, ensure_ascii=False) + "\n"
    options.table.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
