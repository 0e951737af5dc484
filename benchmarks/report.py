"""Results as a table, a JSON file and a plot."""

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

from allennlp_sentmatch.nn.kernels.compiled_support import IS_COMPILED

HERE = Path(__file__).resolve().parent

#: Where results go.
RESULTS = HERE / "results"


def machine(device: torch.device) -> dict[str, Any]:
    """Where and when, as far as it bears on the speed."""
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
        "compiled_steps": IS_COMPILED,
        "command": " ".join(["python", Path(sys.argv[0]).name, *sys.argv[1:]]),
    }


def table(records: list[dict[str, Any]], columns: dict[str, str]) -> str:
    """A Markdown table of the records, a column for each title and key."""
    rows = [list(columns), ["---"] * len(columns)]
    rows += [[_cell(record.get(key)) for key in columns.values()] for record in records]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def write(
    path: Path, info: dict[str, Any], records: list[dict[str, Any]], columns: dict[str, str]
) -> None:
    """Print the results, and write them to `path` with the endings .json and .md."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"machine": info, "records": records}
    path.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
    facts = "\n".join(f"- {key}: {value}" for key, value in info.items())
    text = f"{facts}\n\n{table(records, columns)}\n"
    print(text)
    path.with_suffix(".md").write_text(text)


def plot(path: Path, info: dict[str, Any], records: list[dict[str, Any]]) -> None:
    """Draw `path` with the ending .png: each encoder's training step by its baseline's, over T.

    A hollow point is of one run only of either, the first.
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
            of_size = [
                record
                for record in records
                if record["encoder"] == encoder and record["batch_size"] == batch_size
            ]
            lengths = [record["num_tokens"] for record in of_size]
            for key, style, label in (
                ("training_ratio", "o-", "fast path"),
                ("plain_training_ratio", "s:", "plain path"),
            ):
                ratios = [record.get(key) or math.nan for record in of_size]  # nan: left out
                color = f"C{index}"
                axes.plot(lengths, ratios, style, color=color, label=f"{label}, {batch_size}")
                rounds = (key.replace("ratio", "rounds"), "baseline_training_rounds")
                once = [1 in map(record.get, rounds) for record in of_size]
                first_runs = [r if alone else math.nan for r, alone in zip(ratios, once)]
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
        axes.set_ylim(min(low, 0.7), max(high, 2.5))  # so that there are two ticks at least
        axes.grid(alpha=0.3)
    for axes in list(grid.flat)[len(encoders) :]:
        axes.remove()
    figure.legend(
        *grid[0, 0].get_legend_handles_labels(),
        loc="outside right upper",
        title="path, batch size\n(hollow: a first run)",
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
