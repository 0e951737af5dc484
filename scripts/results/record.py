"""Write a command's report into a table of the documentation.

    allennlp calibrate model.tar.gz dev.tsv out/calibrated --test-file test.tsv
    python -m scripts.results.record calibration docs/results/calibration.json SICK out/calibrated

    allennlp tune ranker.jsonnet space.libsonnet -s out/tune/trecqa
    python -m scripts.results.record study docs/results/tune_trecqa.json "MAP, %" out/tune/trecqa

    allennlp inspect 1/model.tar.gz sst/test.txt out/trees --trees --beside 2/model.tar.gz
    python -m scripts.results.record trees docs/results/trees.json "SST, test" out/trees \
        --model "Gumbel Tree-LSTM, SICK"

    allennlp transfer out/bilstm/1/model.tar.gz --data ../shared/data --output-file 1.json
    allennlp transfer out/bilstm/2/model.tar.gz --data ../shared/data --output-file 2.json
    python -m scripts.results.record transfer docs/results/transfer.json BiLSTM 1.json 2.json \
        --configuration allnli_small/bilstm --revision 7883536d --command "allennlp transfer ..."

Rows with the same name are replaced. A study has its own file. A transfer has a report for each
seed; fields of the row that are not set here remain. `fill_tables.py` makes the tables of the
pages.
"""

import argparse
import json
import shlex
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from allennlp_sentmatch.environment import processor
from scripts.results.commands import quoted
from scripts.results.run_seeds import revision
from scripts.results.tables import read_table, write_table

CALIBRATION_COLUMNS = {
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

SIMPLE_TREES = ("parses", "left-branching", "right-branching", "balanced", "random")
TREE_COLUMNS = {
    "data": "data",
    "sentences": "sentences",
    "trees": "trees",
    "F1 with the parses": "parses",
    "with left-branching": "left-branching",
    "with right-branching": "right-branching",
    "with balanced": "balanced",
    "between seeds": "between_models",
    "depth": "depth",
}


def record_trees(path: Path, data: str, report: dict[str, Any], model: str) -> None:
    """Put the trees of a model's seeds on some data, and the simple ones, into rows of percents."""
    models = [name for name in report["f1"] if name not in SIMPLE_TREES]
    groups = {**{name: [name] for name in SIMPLE_TREES}, model: models}
    made = []
    for trees, names in groups.items():
        figures = [report["f1"][name] for name in names]
        record = {"data": data, "sentences": report["sentences"], "trees": trees}
        for other in figures[0]:
            record[other] = [round(100 * one[other], 1) for one in figures]
        record["depth"] = [round(report["depth"][name], 1) for name in names]
        made.append(record)
    if "between_models" in report:
        made[-1]["between_models"] = round(100 * report["between_models"], 1)
    keys = [_tree_key(record) for record in made]
    known = read_table(path, {"records": []})["records"]
    others = [record for record in known if _tree_key(record) not in keys]
    records = sorted([*others, *made], key=_tree_key)
    write_table(path, {"columns": TREE_COLUMNS, "records": records})


def _tree_key(record: dict[str, Any]) -> tuple[str, int, str]:
    """Return what identifies and orders the rows: the data, and the simple trees before models."""
    trees = record["trees"]
    place = SIMPLE_TREES.index(trees) if trees in SIMPLE_TREES else len(SIMPLE_TREES)
    return record["data"], place, trees


def record_calibration(path: Path, name: str, report: dict[str, Any]) -> None:
    """Write the measures on the test data, before and after a calibration, into two rows."""
    test = report["test"]
    temperatures = {"before": report["previous_temperature"], "after": report["temperature"]}
    made = [
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
    others = [one for one in read_table(path, {"records": []})["records"] if one["name"] != name]
    machine = {"torch": version("torch"), "date": date.today().isoformat()}
    columns = CALIBRATION_COLUMNS
    write_table(path, {"machine": machine, "columns": columns, "records": [*others, *made]})


def record_study(path: Path, metric_title: str, report: dict[str, Any]) -> None:
    """Write a study's report with information from the repository, without interrupted trials.

    The settings of named choices are left out: the repository has the file of the search space.
    """
    for parameter in report["space"].values():
        if "choices" in parameter:
            parameter["choices"] = list(parameter["choices"])
    made = {
        "metric_title": metric_title,
        **report,
        "command": " ".join(map(quoted, shlex.split(report["command"]))),
        "trials": [trial for trial in report["trials"] if trial["state"] != "interrupted"],
        "machine": {"processor": processor(), **report["machine"]},
        "revision": revision(),
    }
    write_table(path, made)


def record_transfer(path: Path, model: str, reports: list[dict[str, Any]], **fields: Any) -> None:
    """Write the figures of reports, one for each seed, and other fields into a row.

    # Raises

    `ValueError` for reports that lack a task or have an error, as a mean of other seeds would
    mislead; and for another number of seeds than of reports.
    """
    seeds = fields.get("seeds")
    if seeds is not None and len(seeds) != len(reports):
        raise ValueError(f"{model}: {len(seeds)} seeds for {len(reports)} reports")
    measured = {
        "model": model,
        "metrics": _transfer_figures(model, reports),
        "vector_size": reports[0]["vector_size"],
        "machine": {"scikit-learn": version("scikit-learn"), "numpy": version("numpy")},
        "date": date.today().isoformat(),
        **{name: value for name, value in fields.items() if value is not None},
    }
    table = read_table(path)
    known = [row for row in table["rows"] if row["model"] == model]
    if known:
        known[0].update(measured)
    else:
        table["rows"].append(measured)
    write_table(path, table)


def _transfer_figures(model: str, reports: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Return the figures of each task, and their average if all reports have one, by seed."""
    names = reports[0]["metrics"].keys()
    for report in reports:
        if report["errors"] or report["metrics"].keys() != names:
            raise ValueError(f"{model}: the reports have failed tasks, or not the same ones")
    figures = {}
    for name in sorted(names):
        figures[name] = [round(report["metrics"][name], 4) for report in reports]
    averages = [report["average"] for report in reports]
    if None not in averages:
        figures["average"] = [round(average, 2) for average in averages]
    return figures


def parsed_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    kinds = parser.add_subparsers(dest="kind", required=True)

    calibration = kinds.add_parser("calibration")
    _add_table(calibration, "the data and the model")
    calibration.add_argument("report", type=Path, help="the folder that `allennlp calibrate` made")

    study = kinds.add_parser("study")
    _add_table(study, 'a title such as "MAP, %%", of figures in percent')
    study.add_argument("report", type=Path, help="the folder of the study")

    trees = kinds.add_parser("trees")
    _add_table(trees, "the data")
    trees.add_argument("report", type=Path, help="the folder that `allennlp inspect --trees` made")
    trees.add_argument("--model", required=True, help="what the archives are seeds of")

    transfer = kinds.add_parser("transfer")
    _add_table(transfer, "the name of the row")
    transfer.add_argument(
        "reports", type=Path, nargs="+", help="the files of `allennlp transfer`, one for each seed"
    )
    transfer.add_argument("--seeds", type=int, nargs="+", help="the seeds of the reports")
    transfer.add_argument("--configuration", help="the configuration that trained the model")
    transfer.add_argument("--revision", help="the commit that trained the model")
    transfer.add_argument("--command", help="the command that made the reports")
    transfer.add_argument("--differs", help="what differs from the published experiment")
    return parser.parse_args()


def _add_table(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the arguments of every kind: the table, and the name of what is recorded."""
    parser.add_argument("table", type=Path, help="a JSON file of results")
    parser.add_argument("name", help=name)


def _read(path: Path) -> dict[str, Any]:
    """Read a report."""
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return report


def main() -> None:
    """Record the reports of the command line."""
    given = parsed_arguments()
    if given.kind == "calibration":
        record_calibration(given.table, given.name, _read(given.report / "calibration.json"))
    elif given.kind == "study":
        record_study(given.table, given.name, _read(given.report / "study.json"))
    elif given.kind == "trees":
        record_trees(given.table, given.name, _read(given.report / "trees.json"), given.model)
    else:
        record_transfer(
            given.table,
            given.name,
            [_read(path) for path in given.reports],
            seeds=given.seeds,
            configuration=given.configuration,
            revision=given.revision,
            command=given.command,
            differs=given.differs,
        )


if __name__ == "__main__":
    main()
