"""Add the report of an `allennlp tune` to the results, for a table of the documentation.

    python -m scripts.results.record_study docs/results/tune_trecqa.json out/tune/trecqa "MAP, %"

STUDY is the folder of the study. `fill_tables.py` makes the table, whose column with the
metric on the validation data has the title METRIC.
"""

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

from allennlp_sentmatch.environment import processor
from scripts.results import run_seeds


def recorded(report: dict[str, Any], metric_title: str) -> dict[str, Any]:
    """The report with information from the repository, without interrupted trials.

    The settings of named choices are left out: the repository has the file of the search space.
    """
    for parameter in report["space"].values():
        if "choices" in parameter:
            parameter["choices"] = list(parameter["choices"])
    return {
        "metric_title": metric_title,
        **report,
        "command": " ".join(map(run_seeds.quoted, shlex.split(report["command"]))),
        "trials": [trial for trial in report["trials"] if trial["state"] != "interrupted"],
        "machine": {"processor": processor(), **report["machine"]},
        "revision": run_seeds.revision(),
    }


def main() -> None:
    """Write the file of the command line."""
    parser = argparse.ArgumentParser(description="Record a study's report.")
    parser.add_argument("file", type=Path, help="a JSON file of results")
    parser.add_argument("study", type=Path, help="the folder that `allennlp tune` made")
    parser.add_argument("metric", help='a title such as "accuracy, %%", of figures in percent')
    arguments = parser.parse_args()
    report = json.loads((arguments.study / "study.json").read_text(encoding="utf-8"))
    text = json.dumps(recorded(report, arguments.metric), indent=2, ensure_ascii=False)
    arguments.file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
