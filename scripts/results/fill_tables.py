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
from typing import Any

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
    rows = data["rows"]

    def listed(key: str) -> list[str]:
        return [", ".join(map(str, row.get(key, ()))) for row in rows]

    sizes = [row.get("parameters") for row in rows]
    yield table(
        {
            "model": [row["model"] for row in rows],
            "configuration": [code(row.get("configuration")) for row in rows],
            **{
                title: [metric(row["metrics"].get(name), title) for row in rows]
                for name, title in data["metrics"].items()
            },
            "published": [published(row) for row in rows],
            "what differs": [what_differs(row) for row in rows],
            "seeds": listed("seeds"),
            "best epoch": listed("epochs"),
            "parameters": [f"{size / 1e6:.2f}M" if size else "" for size in sizes],
            "minutes": [minutes(row) for row in rows],
        }
    )
    trained = [row for row in rows if "command" in row]
    command, number = commands.commonest(trained) if trained else ("", 0)
    some = f"one for {number} row{'s' * (number > 1)} is below; `{data['file']}` has all of them"
    revisions = [revision for row in trained for revision in revisions_of(row, data)]
    yield "\n".join(
        f"- {name}: {'; '.join(dict.fromkeys(filter(None, values)))}"
        for name, values in {
            "Data": [data["data"]],
            "Word vectors": [row.get("vectors", data["vectors"]) for row in trained],
            "Machine": [machine(machine_of(row, data)) for row in trained],
            "Revision": revisions,
            "Date": [row.get("date", data.get("date")) for row in trained],
            "Commands": [some] if number < len(trained) else [],
        }.items()
        if any(values)
    )
    if command:
        yield f"```bash\n{command}\n```"


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
    trials = sorted(
        data["trials"],
        key=lambda trial: (trial["value"] is None, sign * (trial["value"] or 0), trial["number"]),
    )
    title = data["metric_title"]
    yield table(
        {
            **{code(name): [str(one["values"][name]) for one in trials] for name in data["space"]},
            f"validation {title}": [
                metric(trial["value"], title)
                if trial["value"] is not None
                else ": ".join(filter(None, (trial["state"], trial.get("reason"))))
                for trial in trials
            ],
            "best epoch": [
                f"{trial['best_epoch']} of {trial['epochs']}" if "best_epoch" in trial else ""
                for trial in trials
            ],
            "minutes": [minutes(trial) for trial in trials],
        }
    )
    facts = {
        "Configuration": code(data["configuration"]),
        "Search": f"{data['sampler']}, seed {data['seed']}",
        "Machine": machine(data["machine"]),
        "Revision": data["revision"],
        "Date": data["date"],
    }
    yield "\n".join(f"- {name}: {value}" for name, value in facts.items())
    yield f"```bash\n{commands.wrapped(data['command'])}\n```"


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
