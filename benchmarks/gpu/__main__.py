"""Measure on a GPU what needs one, in parts, each with its own time limit.

    bash benchmarks/gpu.sh OUT                 # on a machine with a GPU: at most five minutes
    bash benchmarks/gpu.sh OUT --device cpu    # a rehearsal in small sizes, without a GPU

Each part is a process, which writes its results to OUT as they come. If a part fails, or exceeds
its limit, its results so far remain, and the other parts still run. OUT/all.txt has the output of
all parts, and OUT/parts.json their outcomes. The parts are

- tests: `pytest -m gpu` on the tests that need no AllenNLP;
- contracts: values and gradients of every encoder against float64 on the CPU (contracts.py);
- launches: kernels, waits and CUDA graphs of every encoder (launches.py);
- encoders: forward passes and training steps relative to torch.nn.LSTM, which cuDNN runs;
- compiled: the same for torch.compile and for the backend that it would replace (compiled.py);
- rcrn_runtime: table 10 of RCRN's paper;
- sentences: `SentenceEncoder` relative to MiniLM, if its package is installed (sentences.py).
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import torch

from benchmarks.report import machine
from scripts.experiments import REPOSITORY

SECONDS = 290.0
"""The total time of all parts on a GPU."""

REHEARSAL = 6
"""A rehearsal may take this many times as long: its compiler may have to share one core."""

NO_TESTS = 5
"""The exit status of pytest if no test was selected, as on a machine without a GPU."""


class Part(NamedTuple):
    """A part, its largest number of seconds, and its command after "python -m"."""

    name: str
    seconds: float
    command: list[str]


def parts(output: Path, device: str) -> list[Part]:
    """Return the parts in order: first those that check whether results are right."""
    is_rehearsal = device == "cpu"

    def ours(name: str, *arguments: str) -> list[str]:
        file = str(output / name.rpartition(".")[2])
        return [f"benchmarks.{name}", "--device", device, "--output", file, *arguments]

    tests = ["pytest", "-q", "-m", "gpu", "-p", "no:cacheprovider", "tests/nn"]
    batch = ["--lengths", "25", "--batch-sizes", "64", "--seconds", "1", "--longest", "4"]
    rounds = ["--rounds", "10"]
    if is_rehearsal:
        batch = ["--lengths", "3", "--batch-sizes", "2", "--seconds", "0", "--longest", "4"]
        rounds = ["--rounds", "1", "--lengths", "2"]
    chosen = [
        Part("contracts", 40, ours("gpu.contracts")),
        Part("tests", 60, tests),
        Part("launches", 40, ours("gpu.launches")),
        Part("encoders", 60, ours("encoders", *batch)),
        Part("sentences", 45, ours("gpu.sentences")),
        Part("rcrn_runtime", 30, ours("rcrn_runtime", *rounds)),
        Part("compiled", 120, ours("gpu.compiled")),
    ]
    if is_rehearsal:
        return [part._replace(seconds=REHEARSAL * part.seconds) for part in chosen]
    return chosen


def run(part: Part, seconds: float, log: TextIO) -> str:
    """Run a part for at most this long; return its outcome."""
    log.write(f"\n== {part.name}: python -m {' '.join(part.command)}\n")
    log.flush()
    process = subprocess.Popen(
        [sys.executable, "-m", *part.command],
        cwd=REPOSITORY,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # so that its child processes end with it
    )
    try:
        status = process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return f"stopped after {seconds:.3g} seconds"
    if part.name == "tests" and status == NO_TESTS:
        return "no test needs this device"
    return "completed" if status == 0 else f"failed with status {status}"


def run_all(chosen: list[Part], seconds: float, output: Path) -> list[dict[str, Any]]:
    """Run the parts while there is time; return each part's outcome and time."""
    end = time.monotonic() + seconds
    records: list[dict[str, Any]] = []
    with (output / "all.txt").open("w", encoding="utf-8") as log:
        for part in chosen:
            start = time.monotonic()
            left = min(part.seconds, end - start)
            result = run(part, left, log) if left > 0 else "left out: no time was left"
            taken = time.monotonic() - start
            records.append({"part": part.name, "result": result, "seconds": round(taken, 1)})
            print(f"{part.name}: {result} ({taken:.0f} s)", flush=True)
            (output / "parts.json").write_text(json.dumps(records, indent=1) + "\n", "utf-8")
    return records


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path, help="the folder for the results")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument(
        "--parts",
        nargs="+",
        metavar="PART",
        help="by default all",
    )
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error(f"torch {torch.__version__} finds no GPU; --device cpu rehearses the command")
    output = options.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    every = parts(output, options.device)
    names = [part.name for part in every]
    unknown = sorted(set(options.parts or ()) - set(names))
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}, only {', '.join(names)}")
    for name, value in machine(torch.device(options.device)).items():
        print(f"{name}: {value}")
    chosen = [part for part in every if options.parts is None or part.name in options.parts]
    seconds = SECONDS if options.device == "cuda" else REHEARSAL * SECONDS
    records = run_all(chosen, seconds, output)
    failed = [record["part"] for record in records if record["result"].startswith("failed")]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; {output / 'all.txt'} has their output")


if __name__ == "__main__":
    main()
