"""The quick start of `make demo`: train, evaluate and predict with the `allennlp` commands. The
commands write to a log file; the script prints the progress by epoch and the results.
"""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
CONFIG = "training_config/quick_start.jsonnet"
OUTPUT = Path("out/quick_start")
LOG = Path("out/quick_start.log")
ARCHIVE = OUTPUT / "model.tar.gz"
TEST_DATA = "fixtures/quick_start/test.tsv"
EVERYDAY_PAIRS = "fixtures/quick_start/everyday_pairs.tsv"
BAR_WIDTH = 20


def start(*arguments: object) -> "subprocess.Popen[bytes]":
    """Print and start an `allennlp` command. Its output goes to the log file."""
    words = [str(argument) for argument in arguments]
    print(f"   $ allennlp {shlex.join(words)}", flush=True)
    command = [str(Path(sys.executable).with_name("allennlp")), *words]
    # The model is small: on a busy machine, several threads would only wait for each other.
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    with LOG.open("ab") as log:
        return subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            env=environment,
        )


def finish(process: "subprocess.Popen[bytes]") -> None:
    """Wait for a command. If it fails, exit with the end of the log."""
    if process.wait() != 0:
        words = LOG.read_text(encoding="utf-8", errors="replace").split()
        last = " ".join(words[-40:])
        sys.exit(f"The command failed with status {process.returncode} ({LOG}): ... {last}")


def bar(fraction: float) -> str:
    """Return a progress bar."""
    filled = round(BAR_WIDTH * fraction)
    return f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}]"


def finished_epochs(folder: Path, first: int) -> Iterator[str]:
    """Yield a line for each finished epoch from the `first` on, counted from 0."""
    while (file := folder / f"metrics_epoch_{first}.json").exists():
        try:
            metrics = json.loads(file.read_text(encoding="utf-8"))
        except ValueError:  # the file is being written
            return
        first += 1
        yield (
            f"   epoch {first} {bar(1)} accuracy in training {metrics['training_accuracy']:.1%}, "
            f"in validation {metrics['validation_accuracy']:.1%}"
        )


def percentage(log: Path) -> float:
    """Return the finished share of the epoch's batches, from the log's last progress bar."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 400))
        bars = re.findall(rb"(\d+)%\|", file.read())
    return int(bars[-1]) / 100 if bars else 0.0


def train() -> None:
    """Train the model and print a bar for each epoch."""
    process = start("train", CONFIG, "--serialization-dir", OUTPUT, "--force")
    done = 0
    running = True
    while running:
        running = process.poll() is None
        for line in finished_epochs(OUTPUT, done):
            done += 1
            print(f"\r{line}" if sys.stdout.isatty() else line, flush=True)
        if running and sys.stdout.isatty():
            print(f"\r   epoch {done + 1} {bar(percentage(LOG))}", end="", flush=True)
        time.sleep(0.2)
    if sys.stdout.isatty():
        print("\r" + " " * (BAR_WIDTH + 20) + "\r", end="")
    finish(process)


def main() -> None:
    """Train the quick-start model and show what it learned."""
    os.chdir(REPOSITORY)
    started = time.monotonic()
    OUTPUT.parent.mkdir(exist_ok=True)
    LOG.unlink(missing_ok=True)
    # Metrics of an earlier run would be mistaken for this run's.
    for file in OUTPUT.glob("metrics_epoch_*.json"):
        file.unlink()
    print("This trains a classifier over the sentence encoder in the package: does one sentence")
    print("follow from another one, contradict it, or neither?")
    print(f"The log of the commands is in {LOG}.")

    print("\n1. Train it on 1,170 pairs of everyday sentences")
    train()

    print("\n2. Evaluate it on 300 test pairs")
    metrics_path = OUTPUT / "test_metrics.json"
    finish(start("evaluate", ARCHIVE, TEST_DATA, "--output-file", metrics_path))
    test = json.loads(metrics_path.read_text(encoding="utf-8"))
    print(f"   test accuracy {test['accuracy']:.1%}")

    print("\n3. Predict the labels of 20 pairs that were written by others")
    predictions_path = OUTPUT / "predictions.jsonl"
    options = ("--use-dataset-reader", "--output-file", predictions_path, "--silent")
    finish(start("predict", ARCHIVE, EVERYDAY_PAIRS, *options))
    written = Path(EVERYDAY_PAIRS).read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(written, delimiter="\t"))
    lines = predictions_path.read_text(encoding="utf-8").splitlines()
    agreements = 0
    for row, prediction in zip(rows, map(json.loads, lines)):
        is_right = prediction["label"] == row["label"]
        agreements += is_right
        print(f"   {row['sentence1']}")
        answer = f"{prediction['label']} {max(prediction['label_probs']):.0%}"
        remark = "" if is_right else f" (people: {row['label']})"
        print(f"     {row['sentence2']:40} {answer}{remark}")
    print(f"   {agreements} of {len(rows)} as people answer")

    print(f"\nThe model is {ARCHIVE}. This took {time.monotonic() - started:.0f} s. Next:")
    print("   make install-extras && .venv/bin/allennlp demo out/quick_start/model.tar.gz")
    print("                      try it on a page in the browser")
    print("   README.md          train on your own pairs")
    print("   make experiments   the experiments of the papers")


if __name__ == "__main__":
    main()
