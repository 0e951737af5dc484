"""Fill the tables of the documentation from JSON files.

    python -m scripts.results.fill_tables            # rewrites the pages
    python -m scripts.results.fill_tables --check    # fails if a page is out of date

In a page, a table lies between two comments:

    <!-- table docs/results/sick.json -->
    <!-- end of table -->

A file under docs/results/ has a row for each configuration trained on some data (`run_seeds.py
--record` writes rows); claims.json has the claims that `check_claims.py` tested on them; a study's
file has its trials (`record.py`). A file under benchmarks/results/ has a benchmark's measurements.
"""

import argparse
import json
import math
import re
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

from scripts.experiments import REPOSITORY
from scripts.results import commands

DOCS = REPOSITORY / "docs"

_TABLE = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
_PUBLISHED = re.compile(r"Published: (.+)\.$")


def pages() -> list[Path]:
    """Return the pages that may have tables."""
    return [REPOSITORY / "README.md", *sorted(DOCS.glob("*.md"))]


def fill(text: str) -> str:
    """Return the text of a page with all tables regenerated."""
    return _TABLE.sub(lambda match: match[1] + blocks(match[2]) + match[3], text)


def blocks(path: str) -> str:
    """Return the Markdown of a JSON file, whose `path` is relative to the repository."""
    data = json.loads((REPOSITORY / path).read_text(encoding="utf-8"))
    kinds = {"records": measured_blocks, "trials": study_blocks, "rows": result_blocks}
    made = next(kind({"file": path, **data}) for key, kind in kinds.items() if key in data)
    return "\n" + "".join(f"{block}\n\n" for block in made)


def result_blocks(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield a data set's table, how its figures were obtained, and the command of most rows."""
    yield table(result_columns(data))
    trained = [row for row in data["rows"] if "command" in row]
    command, number = commands.commonest(trained) if trained else ("", 0)
    facts = facts_of(trained, data)
    if number < len(trained):
        one = "one for 1 row" if number == 1 else f"one for {number} rows"
        facts["Commands"] = [f"{one} is below; `{data['file']}` has all of them"]
    lines = []
    for name, values in facts.items():
        known = dict.fromkeys(filter(None, values))
        if known:
            lines.append(f"- {name}: {'; '.join(known)}")
    yield "\n".join(lines)
    if command:
        yield f"```bash\n{command}\n```"


def result_columns(data: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the columns of a data set's table by their titles."""
    rows = data["rows"]
    columns = {
        "model": [row["model"] for row in rows],
        "configuration": [code(row.get("configuration")) for row in rows],
    }
    for name, title in data["metrics"].items():
        columns[title] = [metric(row["metrics"].get(name), title) for row in rows]
    columns["published"] = [published(row) for row in rows]
    columns["what differs"] = [what_differs(row) for row in rows]
    columns["seeds"] = [listed(row.get("seeds", ())) for row in rows]
    columns["best epoch"] = [listed(row.get("epochs", ())) for row in rows]
    columns["parameters"] = [millions(row.get("parameters")) for row in rows]
    columns["minutes"] = [minutes(row) for row in rows]
    return columns


def facts_of(trained: Sequence[Mapping[str, Any]], data: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return how the figures of trained rows were obtained, a value of each fact for each row."""
    revisions = []
    for row in trained:
        revisions += revisions_of(row, data)
    return {
        "Data": [data["data"]],
        "Word vectors": [row.get("vectors", data["vectors"]) for row in trained],
        "Machine": [machine(machine_of(row, data)) for row in trained],
        "Revision": revisions,
        "Date": [row.get("date", data.get("date")) for row in trained],
    }


def listed(values: Sequence[Any]) -> str:
    """Return values between commas."""
    return ", ".join(map(str, values))


def millions(number: Optional[int]) -> str:
    """Return a number of parameters in millions, or an empty string for none."""
    return f"{number / 1e6:.2f}M" if number else ""


def what_differs(row: Mapping[str, Any]) -> str:
    """Return the differences from the paper, and the seeds that today's command would not
    reproduce.
    """
    by_reason: dict[str, list[str]] = {}
    for seed, reason in row.get("outdated", {}).items():
        by_reason.setdefault(reason, []).append(seed)
    parts = [row.get("differs", "")]
    for reason, seeds in by_reason.items():
        name = "seed" if len(seeds) == 1 else "seeds"
        parts.append(f"{name} {', '.join(seeds)} not by today's command: {reason}")
    return "; ".join(filter(None, parts))


def revisions_of(row: Mapping[str, Any], data: Mapping[str, Any]) -> list[str]:
    """Return the commits that trained a row's seeds, as far as they are known."""
    recorded = row.get("revisions") or [row.get("revision", data.get("revision"))]
    names = ", ".join(filter(None, recorded))
    return names.split(", ") if names else []


def machine_of(row: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the machine of a row, with the processors of all of its seeds."""
    facts = dict(row.get("machine", data.get("machine", {})))
    processors = list(dict.fromkeys(filter(None, row.get("processors", ()))))
    if not processors:
        return facts
    return {"processor": " and ".join(processors), **facts}


def study_blocks(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the trials of a study, the best one first, and how they were obtained."""
    sign = -1 if data["metric"].startswith("+") else 1

    def order(trial: Mapping[str, Any]) -> tuple[bool, float, int]:
        value = trial["value"]
        return value is None, sign * (value or 0), trial["number"]

    trials = sorted(data["trials"], key=order)
    title = data["metric_title"]
    columns = {code(name): [str(one["values"][name]) for one in trials] for name in data["space"]}
    columns[f"validation {title}"] = [outcome(trial, title) for trial in trials]
    columns["best epoch"] = [
        f"{trial['best_epoch']} of {trial['epochs']}" if "best_epoch" in trial else ""
        for trial in trials
    ]
    columns["minutes"] = [minutes(trial) for trial in trials]
    yield table(columns)
    facts = {
        "Configuration": code(data["configuration"]),
        "Search": f"{data['sampler']}, seed {data['seed']}",
        "Machine": machine(data["machine"]),
        "Revision": data["revision"],
        "Date": data["date"],
    }
    yield "\n".join(f"- {name}: {value}" for name, value in facts.items())
    yield f"```bash\n{commands.wrapped(data['command'])}\n```"


def outcome(trial: Mapping[str, Any], title: str) -> str:
    """Return the figure of a trial or, without one, its state and the reason."""
    if trial["value"] is not None:
        return metric(trial["value"], title)
    return ": ".join(filter(None, (trial["state"], trial.get("reason"))))


def measured_blocks(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of a benchmark or of claims, and where a benchmark was measured."""
    columns = data["columns"].items()
    yield table({title: [cell(one.get(key)) for one in data["records"]] for title, key in columns})
    facts = data.get("machine", {})
    device = facts.get("device", "cpu")
    threads = cell(facts.get("threads"))
    parts = [
        facts.get("processor", "") if device == "cpu" else device,
        threads and f"{threads} thread{'' if threads == '1' else 's'}",
        code(commands.present(facts.get("command", ""))),
    ]
    if any(parts):
        yield f"Measured: {', '.join(filter(None, parts))}."


def table(columns: Mapping[str, Sequence[str]]) -> str:
    """Return a Markdown table of the columns that are not empty."""
    columns = {title: cells for title, cells in columns.items() if any(cells)}
    rows = [columns, ["---"] * len(columns), *zip(*columns.values())]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def metric(value: Any, title: str) -> str:
    """Return a figure with its standard deviation over the seeds; in percent if the title says so.

    `value` is one figure, a list of one for each seed, or their `mean` and `std`.
    """
    if value is None:
        return ""
    percent = title.endswith("%")
    if isinstance(value, dict):
        figures = [value["mean"], value["std"]]
    elif isinstance(value, list) and len(value) > 1:
        figures = [statistics.mean(value), statistics.stdev(value)]
    else:
        figures = value if isinstance(value, list) else [value]
    digits = ".1f" if percent else digits_for(figures[0])
    return " ± ".join(f"{100 * figure if percent else figure:{digits}}" for figure in figures)


def digits_for(mean: float) -> str:
    """Return the format that shows three digits of a mean, and its deviation with as many decimals.

    Small figures have no zeros at the end.
    """
    if abs(mean) < 0.1:
        return ".3g"
    return f".{max(0, 2 - math.floor(math.log10(abs(mean))))}f"


def published(row: Mapping[str, Any]) -> str:
    """Return the paper's figure, from the first line of the configuration unless the row has it."""
    if "published" in row:
        return str(row["published"])
    if "configuration" not in row:
        return ""
    path = REPOSITORY / "training_config" / f"{row['configuration']}.jsonnet"
    first_line = path.read_text(encoding="utf-8").splitlines()[0]
    match = _PUBLISHED.search(first_line)
    return match[1] if match else ""


def machine(facts: Mapping[str, Any]) -> str:
    """Return a machine and its software on one line."""
    return ", ".join(f"{name} {value}" for name, value in facts.items())


def code(text: Any) -> str:
    """Return a text as code, or an empty string for none."""
    return f"`{text}`" if text else ""


def minutes(run: Mapping[str, Any]) -> str:
    """Return the minutes of a run, or the average of several runs."""
    value = run.get("minutes")
    if value is None:
        return ""
    return f"{statistics.mean(value) if isinstance(value, list) else value:.1f}"


def cell(value: Any) -> str:
    """Return a value with three digits; for several values, the smallest and the largest."""
    if value is None:
        return ""
    if isinstance(value, list):
        return " to ".join(dict.fromkeys(cell(end) for end in (min(value), max(value))))
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    return str(value)


def main() -> None:
    """Rewrite the pages, or check them."""
    parser = argparse.ArgumentParser(description="Fill the tables of the documentation.")
    parser.add_argument("--check", action="store_true", help="change nothing")
    arguments = parser.parse_args()
    for page in pages():
        text = page.read_text(encoding="utf-8")
        made = fill(text)
        if made == text:
            continue
        name = page.relative_to(REPOSITORY)
        if arguments.check:
            sys.exit(f"{name} is out of date: run python -m scripts.results.fill_tables")
        page.write_text(made, encoding="utf-8")
        print(f"filled {name}")


if __name__ == "__main__":
    main()
