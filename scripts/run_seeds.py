"""Train a configuration with several seeds and print the mean and the spread of its figures.

    python scripts/run_seeds.py training_config/sick/cas_lstm.jsonnet out/sick/cas_lstm \
        --overrides training_config/local/sick.json --seeds 1 2 3

Each seed is one `allennlp train` into OUTPUT/SEED. A seed whose `metrics.json` is there already is
not trained again, so that an interrupted series goes on where it stopped.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path


def train(config: Path, output: Path, overrides: dict[str, object], seed: int) -> None:
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


def main() -> None:
    """Train every seed of the command line and print the figures."""
    parser = argparse.ArgumentParser(description="Train a configuration with several seeds.")
    parser.add_argument("config", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--overrides", type=Path, help="a JSON file, such as the local data paths")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    overrides = json.loads(arguments.overrides.read_text()) if arguments.overrides else {}

    runs = []
    for seed in arguments.seeds:
        output = arguments.output / str(seed)
        if not (output / "metrics.json").is_file():
            train(arguments.config, output, overrides, seed)
        runs.append(json.loads((output / "metrics.json").read_text(encoding="utf-8")))
    print(f"{arguments.config}, seeds {arguments.seeds}")
    for name in sorted(set.intersection(*(set(run) for run in runs))):
        if name.startswith(("best_validation_", "test_")):
            print(f"  {name}: {summarize([run[name] for run in runs])}")
    durations = [seconds(run["training_duration"]) / 60 for run in runs]
    print(f"  training minutes: {', '.join(f'{minutes:.1f}' for minutes in durations)}")


if __name__ == "__main__":
    main()
