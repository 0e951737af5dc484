"""Benchmark results as a printed table, a JSON file and a plot.

`scripts/fill_tables.py` copies the JSON files' figures into docs/speed.md.
"""

import json
import math
import os
import platform
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Optional

import torch

from allennlp_sentmatch.nn.ops.backends import COMPILED

HERE = Path(__file__).resolve().parent

#: The folder of the committed results.
RESULTS = HERE / "results"


def machine(device: torch.device) -> dict[str, Any]:
    """The facts about the machine and the moment that the speed depends on."""
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": _commit(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "onednn": torch.backends.mkldnn.is_available(),
        "compiled_steps": COMPILED,
        "command": " ".join(["python", Path(sys.argv[0]).name, *sys.argv[1:]]),
    }


def table(records: list[dict[str, Any]], columns: dict[str, str]) -> str:
    """The records as a Markdown table; `columns` maps titles to keys of a record."""
    rows = [list(columns), ["---"] * len(columns)]
    rows += [[_cell(record.get(key)) for key in columns.values()] for record in records]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def write(
    path: Path, info: dict[str, Any], records: list[dict[str, Any]], columns: dict[str, str]
) -> None:
    """Print the results, and write them to `path` with the ending .json."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"machine": info, "columns": columns, "records": records}
    path.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    for key, value in info.items():
        print(f"{key}: {value}")
    print(f"\n{table(records, columns)}")


def plot(path: Path, info: dict[str, Any], records: list[dict[str, Any]]) -> None:
    """Plot the ratio of each encoder's training step to its baseline's over T, as `path`.png.

    A hollow point marks a step that ran only once after its warm-up.
    """
    from matplotlib.figure import Figure

    encoders = list(dict.fromkeys(record["encoder"] for record in records))
    batch_sizes = sorted({record["batch_size"] for record in records})
    num_columns = min(3, len(encoders))
    num_rows = -(-len(encoders) // num_columns)
    figure = Figure(figsize=(3.6 * num_columns + 1.4, 3 * num_rows), layout="constrained")
    grid = figure.subplots(num_rows, num_columns, squeeze=False)
    for axes, encoder in zip(grid.flat, encoders):
        for index, batch_size in enumerate(batch_sizes):
            selected = [
                record
                for record in records
                if record["encoder"] == encoder and record["batch_size"] == batch_size
            ]
            lengths = [record["num_tokens"] for record in selected]
            for key, style, label in (
                ("training_ratio", "o-", "default"),
                ("naive_training_ratio", "s:", "naive"),
            ):
                ratios = [record.get(key) or math.nan for record in selected]  # NaN: not measured
                color = f"C{index}"
                axes.plot(lengths, ratios, style, color=color, label=f"{label}, {batch_size}")
                rounds = (key.replace("ratio", "rounds"), "baseline_training_rounds")
                ran_once = [1 in map(record.get, rounds) for record in selected]
                first_runs = [ratio if once else math.nan for ratio, once in zip(ratios, ran_once)]
                axes.plot(lengths, first_runs, style[0], color=color, markerfacecolor="white")
        limits = {
            r["num_tokens"]: r["arithmetic_ratio"] for r in records if r["encoder"] == encoder
        }
        axes.plot(list(limits), list(limits.values()), "k--", label="arithmetic")
        baseline = next(r["baseline"] for r in records if r["encoder"] == encoder)
        axes.set_title(f"{encoder} / {baseline}", fontsize=9)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xticks(sorted(limits), labels=sorted(limits))
        axes.yaxis.set_major_formatter("{x:g}")
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0.7), max(high, 2.5))  # at least two ticks
        axes.grid(alpha=0.3)
    for axes in list(grid.flat)[len(encoders) :]:
        axes.remove()
    figure.legend(
        *grid[0, 0].get_legend_handles_labels(),
        loc="outside right upper",
        title="backend, batch size\n(hollow: ran once)",
        title_fontsize=7,
        fontsize=7,
    )
    figure.supxlabel("tokens in a sentence")
    figure.supylabel("training step, ratio")
    figure.suptitle(
        f"{info['processor']}, {info['threads']} threads, torch {info['torch']}"
        if info["device"] == "cpu"
        else f"{info['device']}, torch {info['torch']}",
        fontsize=9,
    )
    figure.savefig(path.with_suffix(".png"), dpi=120)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):  # of several runs
        return " to ".join(dict.fromkeys(_cell(end) for end in (min(value), max(value))))
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    return str(value)


def _commit() -> Optional[str]:
    try:
        return subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=HERE,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), "unknown")
