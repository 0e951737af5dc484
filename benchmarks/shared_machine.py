"""Measure concurrent training runs on the same cores, with different numbers of threads.

Two processes train the same encoder at the same time. The results are written to
benchmarks/results/.

    python -m benchmarks.shared_machine --threads 2
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from allennlp_sentmatch.nn import CellAwareLSTM
from benchmarks.measure import Candidate, interleave
from benchmarks.report import RESULTS, machine, write

COLUMNS = {
    "processes": "processes",
    "threads of each": "threads",
    "OMP_WAIT_POLICY": "wait_policy",
    "2-layer LSTM, ms": "lstm",
    "cas_lstm, ms": "cas_lstm",
}
ENCODERS = ("lstm", "cas_lstm")
BATCH_SIZE = 64
NUM_TOKENS = 25
SIZE = 300


def train(encoder: str, seconds: float, folder: Path, processes: int) -> None:
    """Print the milliseconds of a training step, after all processes have started."""
    if encoder == "lstm":
        lstm = torch.nn.LSTM(SIZE, SIZE, num_layers=2, batch_first=True)
        candidate = Candidate.lstm(lstm)
    else:
        mask = torch.ones(BATCH_SIZE, NUM_TOKENS, dtype=torch.bool)
        candidate = Candidate.encoder(CellAwareLSTM(SIZE, SIZE), mask, backend=None)
    inputs = torch.randn(BATCH_SIZE, NUM_TOKENS, SIZE)
    candidate.training(inputs)
    (folder / str(os.getpid())).touch()
    while len(list(folder.iterdir())) < processes:
        time.sleep(0.01)
    steps = interleave({encoder: partial(candidate.training, inputs)}, seconds, inputs.device)
    print(json.dumps(1000 * statistics.mean(steps[encoder])))


def step_time(
    encoder: str, processes: int, threads: int, wait_policy: str, seconds: float
) -> float:
    """Return the milliseconds of a step, on average over the processes."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    environment.pop("OMP_WAIT_POLICY", None)
    if wait_policy:
        environment["OMP_WAIT_POLICY"] = wait_policy
    with TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "benchmarks.shared_machine",
            "--encoder",
            encoder,
            "--folder",
            folder,
            "--processes",
            str(processes),
            "--seconds",
            str(seconds),
        ]
        running = [
            subprocess.Popen(
                command,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(processes)
        ]
        outputs = [process.communicate()[0] for process in running]
    times: list[float] = [json.loads(output) for output in outputs]
    return statistics.mean(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument(
        "--seconds",
        type=float,
        default=10.0,
        help="of each measurement",
    )
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--encoder", choices=ENCODERS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--processes", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.encoder:  # this is one of the measured processes
        train(options.encoder, options.seconds, options.folder, options.processes)
        return
    info = machine(torch.device("cpu"))
    info["threads"] = None
    many = options.threads
    settings = [
        (1, many, ""),
        (1, many, "PASSIVE"),
        (2, 1, ""),
        (2, many, ""),
        (2, many, "PASSIVE"),
    ]
    records: list[dict[str, Any]] = [
        dict(zip(("processes", "threads", "wait_policy"), setting)) for setting in settings
    ]
    for _ in range(options.rounds):
        for setting, record in zip(settings, records):
            for encoder in ENCODERS:
                milliseconds = step_time(encoder, *setting, options.seconds)
                record.setdefault(encoder, []).append(milliseconds)
    write(RESULTS / "shared_machine_cpu", info, records, COLUMNS)


if __name__ == "__main__":
    main()
