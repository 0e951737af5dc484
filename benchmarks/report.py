"""Benchmark results as a printed table, a JSON file and a plot.

`scripts/results/fill_tables.py` copies the JSON files' figures into docs/speed.md.
"""

import json
import os
import platform
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Optional

import torch

from allennlp_sentmatch.environment import processor
from allennlp_sentmatch.nn.ops.backends import COMPILED
from scripts.experiments import REPOSITORY
from scripts.results.fill_tables import measured_blocks
from scripts.results.tables import write_whole

RESULTS = REPOSITORY / "benchmarks" / "results"
"""The folder of the committed results."""


def machine(device: torch.device) -> dict[str, Any]:
    """Return facts about the machine and the run on which the speed depends."""
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": _commit(),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "processor": processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "onednn": torch.backends.mkldnn.is_available(),
        "compiled_steps": COMPILED,
        "command": " ".join(["python -m", _program(), *sys.argv[1:]]),
    }


def _program() -> str:
    """Return the name of the module that was started, such as `benchmarks.gpu.launches`."""
    path = Path(sys.argv[0]).resolve().with_suffix("")
    if REPOSITORY not in path.parents:
        return f"benchmarks.{path.stem}"
    return ".".join(path.relative_to(REPOSITORY).parts).removesuffix(".__main__")


def save(
    path: Path, info: dict[str, Any], records: list[dict[str, Any]], columns: dict[str, str]
) -> dict[str, Any]:
    """Write the results to `path` with the suffix .json; return them."""
    info["load_after"] = os.getloadavg()[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"machine": info, "columns": columns, "records": records}
    text = json.dumps(data, indent=1) + "\n"
    write_whole(path.with_suffix(".json"), text.encode())
    return data


def write(
    path: Path, info: dict[str, Any], records: list[dict[str, Any]], columns: dict[str, str]
) -> None:
    """Save the results, and print them."""
    data = save(path, info, records, columns)
    for key, value in info.items():
        print(f"{key}: {value}")
    print("", *measured_blocks(data), sep="\n")


def plot(picture: Path, info: dict[str, Any], records: list[dict[str, Any]]) -> None:
    """Plot the ratio of each encoder's training step to its baseline's over T.

    A hollow point marks a step that ran only once after its warm-up.
    """
    import pandas
    import seaborn

    keys = {
        "default": "training_ratio",
        "naive": "naive_training_ratio",
        "arithmetic": "arithmetic_ratio",
    }
    points = pandas.DataFrame(
        {
            "encoder": f"{record['encoder']} / {record['baseline']}",
            "batch size": str(record["batch_size"]),
            "backend": backend,
            "tokens in a sentence": record["num_tokens"],
            "training step, ratio": record.get(key),
            "ran once": backend != "arithmetic"
            and 1
            in (record.get(key.replace("ratio", "rounds")), record["baseline_training_rounds"]),
        }
        for record in records
        for backend, key in keys.items()
    )
    x = "tokens in a sentence"
    y = "training step, ratio"
    grid = seaborn.relplot(
        points,
        x=x,
        y=y,
        hue="batch size",
        style="backend",
        markers=True,
        kind="line",
        height=3,
        col="encoder",
        col_wrap=3,
        facet_kws={"sharex": False, "sharey": False},
    )
    for name, panel in grid.axes_dict.items():
        once = points[points["ran once"] & (points["encoder"] == name)]
        panel.plot(
            once[x],
            once[y],
            "o",
            color="white",
            markersize=3,
            zorder=3,
        )
        panel.set_xscale("log", base=2)
        panel.set_yscale("log", base=2)
    grid.set_titles("{col_name}")
    machine = f"{info['processor']}, {info['threads']} threads, torch {info['torch']}"
    grid.figure.suptitle(f"{machine} (hollow: ran once)", y=1.02)
    grid.savefig(picture, dpi=120)


def _commit() -> Optional[str]:
    """Return the commit, with "-dirty" if files other than pages and results differ from it."""
    try:
        commit = _git("rev-parse", "--short", "HEAD").strip()
        changed = _git("status", "--porcelain", "--", ".", ":!docs", ":!benchmarks/results")
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{commit}-dirty" if changed else commit


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(REPOSITORY), *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
