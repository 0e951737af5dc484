"""Train a configuration with several seeds and print the mean and the spread of its figures.

    python scripts/run_seeds.py training_config/sick/cas_lstm.jsonnet out/sick/cas_lstm \
        --overrides training_config/local/sick.json --seeds 1 2 3

Each seed is one `allennlp train` into OUTPUT/SEED. A seed that has finished is not trained again,
so an interrupted series can be resumed. `--record docs/results/sick.json` puts the figures into
that file, in the row of the configuration and the overrides; `scripts/fill_tables.py` makes the
tables of the documentation from such files.
"""

import argparse
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from allennlp.common.params import parse_overrides

REPOSITORY = Path(__file__).resolve().parents[1]
CONFIGURATIONS = REPOSITORY / "training_config"


def train(config: Path, output: Path, overrides: dict[str, Any], seed: int) -> None:
    """Run `allennlp train` for one seed."""
    seeds = {"random_seed": seed, "numpy_seed": seed, "pytorch_seed": seed}
    command = [
        str(Path(sys.executable).with_name("allennlp")),
        "train", str(config), "--serialization-dir", str(output), "--force",
        "--file-friendly-logging", "--overrides", json.dumps({**overrides, **seeds}),
    ]  # fmt: skip
    log = output.with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as file:
        result = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False)
    if result.returncode != 0:
        sys.exit(f"`allennlp train` failed for seed {seed}; the reason is at the end of {log}")


def seconds(duration: str) -> float:
    """AllenNLP's "H:MM:SS.ffffff" in seconds."""
    hours, minutes, rest = duration.split(":")
    return 3600 * int(hours) + 60 * int(minutes) + float(rest)


def summarize(values: list[float]) -> str:
    """The mean, and the standard deviation over the seeds where there are several."""
    text = f"{statistics.mean(values):.4f}"
    if len(values) > 1:
        text += f" +- {statistics.stdev(values):.4f}"
    return f"{text}  ({', '.join(f'{value:.4f}' for value in values)})"


def record(
    path: Path, config: Path, seeds: list[int], overrides: str, runs: list[dict[str, Any]]
) -> None:
    """Put the figures into the file's row of this configuration and these overrides.

    The file is made if it does not exist. The other fields of a row that is there already, such as
    `model` and `differs`, stay as they are.
    """
    name = config.resolve().relative_to(CONFIGURATIONS).with_suffix("").as_posix()
    measured = {
        "configuration": name,
        "overrides": overrides,
        "metrics": {
            key.replace("best_validation", "validation").removeprefix("test_"): [
                round(run[key], 4) for run in runs
            ]
            for key in common_figures(runs)
        },
        "seeds": seeds,
        "epochs": [f"{run['best_epoch'] + 1} of {run['epoch'] + 1}" for run in runs],
        "minutes": [round(seconds(run["training_duration"]) / 60, 1) for run in runs],
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "threads": int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1)),
            "python": platform.python_version(),
            "torch": version("torch"),
        },
        "date": date.today().isoformat(),
        "revision": revision(),
        "command": shlex.join(["python", *sys.argv]),
    }
    empty: dict[str, Any] = {"data": "", "vectors": "", "metrics": {}, "rows": []}
    table = json.loads(path.read_text(encoding="utf-8")) if path.exists() else empty
    for row in table["rows"]:
        if (row.get("configuration"), row.get("overrides", overrides)) == (name, overrides):
            row.update(measured)
            break
    else:
        table["rows"].append({"model": name, **measured})
    table["metrics"] = table["metrics"] or {key: key for key in measured["metrics"]}
    path.write_text(json.dumps(table, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def common_figures(runs: list[dict[str, Any]]) -> list[str]:
    """The names of the validation and test figures that all runs have."""
    names = set.intersection(*(set(run) for run in runs))
    return sorted(name for name in names if name.startswith(("best_validation_", "test_")))


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def revision() -> str:
    """The commit of the repository."""
    command = ["git", "describe", "--always", "--dirty"]
    result = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return result.stdout.strip()


def main() -> None:
    """Train every seed of the command line and print the figures."""
    parser = argparse.ArgumentParser(description="Train a configuration with several seeds.")
    parser.add_argument("config", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument(
        "--overrides", default="", help="a JSON or Jsonnet file, or Jsonnet as `allennlp -o` takes"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--record", type=Path, help="a JSON file of results to put the figures in")
    arguments = parser.parse_args()
    is_file = arguments.overrides.endswith((".json", ".jsonnet", ".libsonnet"))
    text = f"import '{arguments.overrides}'" if is_file else arguments.overrides
    overrides = parse_overrides(text)

    runs = []
    for seed in arguments.seeds:
        output = arguments.output / str(seed)
        if not (output / "metrics.json").is_file():
            train(arguments.config, output, overrides, seed)
        runs.append(json.loads((output / "metrics.json").read_text(encoding="utf-8")))
    print(f"{arguments.config}, seeds {arguments.seeds}")
    for name in common_figures(runs):
        print(f"  {name}: {summarize([run[name] for run in runs])}")
    durations = [seconds(run["training_duration"]) / 60 for run in runs]
    print(f"  training minutes: {', '.join(f'{minutes:.1f}' for minutes in durations)}")
    if arguments.record is not None:
        record(arguments.record, arguments.config, arguments.seeds, text, runs)


if __name__ == "__main__":
    main()
