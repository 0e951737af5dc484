"""Time encoders compiled by torch.compile, and the default backend.

    python -m benchmarks.gpu.compiled --device cuda --output out/compiled

A batch has 64 sentences of 25 tokens. Under `torch.compile` an encoder runs its equations
("naive"), from which Inductor makes kernels and, with the mode "reduce-overhead", CUDA graphs. The
gain is the compiled form's time divided by the default backend's, which is "eager" for CAS-LSTM and
SuBiLSTM on a GPU: if it is below 1.1, the backend is not worth its code. Each encoder and mode has
its own process, since compiling takes long; only one of them measures at a time.
"""

import fcntl
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Callable

import torch

from benchmarks.cases import CASES, Case
from benchmarks.gpu.options import option_parser
from benchmarks.measure import Candidate, interleave, median_ratio
from benchmarks.report import machine, save, write
from scripts.experiments import REPOSITORY

MODES = {"default": "compiled", "reduce-overhead": "compiled, CUDA graphs"}
"""The modes of `torch.compile`, with their names in the table."""

KINDS = ("forward", "training")

SHAPE = (64, 25)
"""B and T."""

REHEARSED = (2, 3)
"""B and T on a CPU."""

COLUMNS = {
    "encoder": "encoder",
    "form": "form",
    "compared with": "baseline",
    "forward, ms": "forward_ms",
    "training step, ms": "training_ms",
    "forward ratio": "forward_ratio",
    "step ratio": "training_ratio",
    "forward, gain of the default backend": "forward_gain",
    "step, gain of the default backend": "training_gain",
    "compiling, s": "compiling_seconds",
    "what failed": "failed",
}


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Wait until no other process is within this context with the same file."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def measure(
    case: Case, mode: str, shape: tuple[int, int], device: torch.device, seconds: float, lock: Path
) -> dict[str, Any]:
    """Compile an encoder and return one row of the table; `shape` is (B, T)."""
    torch.manual_seed(0)
    inputs = torch.randn(*shape, case.input_size, device=device)
    mask = torch.ones(shape, dtype=torch.bool, device=device)
    encoder = case.encoder().to(device)
    compiled = torch.compile(encoder, mode=mode)
    candidates = {
        "baseline": Candidate.lstm(case.baseline().to(device)),
        "default": Candidate.encoder(encoder, mask, None),
        "compiled": Candidate(encoder, lambda x: compiled(x, mask)),
    }
    start = time.perf_counter()
    for kind in KINDS:
        getattr(candidates["compiled"], kind)(inputs)
    record: dict[str, Any] = {
        "encoder": case.name,
        "form": MODES[mode],
        "baseline": case.baseline_name,
        "compiling_seconds": time.perf_counter() - start,
    }
    for kind in KINDS:
        steps: dict[str, Callable[[], None]] = {
            name: partial(getattr(candidate, kind), inputs)
            for name, candidate in candidates.items()
        }
        with exclusive(lock):
            times = interleave(steps, seconds, device)
        record[f"{kind}_ms"] = 1e3 * statistics.median(times["compiled"])
        record[f"{kind}_ratio"] = median_ratio(times["compiled"], times["baseline"])
        record[f"{kind}_gain"] = median_ratio(times["compiled"], times["default"])
    return record


def measure_in_process(case: Case, mode: str, arguments: list[str], lock: Path) -> dict[str, Any]:
    """Return the row of an encoder and a mode, measured in a separate process."""
    command = [sys.executable, "-m", "benchmarks.gpu.compiled", *arguments]
    run = subprocess.run(
        [*command, "--only", case.name, mode, "--lock", str(lock)],
        cwd=REPOSITORY,
        env={**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    if run.returncode != 0:
        last = (run.stderr.strip().splitlines() or ["without a message"])[-1]
        return {"encoder": case.name, "form": MODES[mode], "failed": last[:200]}
    record: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return record


def main() -> None:
    parser = option_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each measurement")
    parser.add_argument(
        "--only", nargs=2, metavar=("ENCODER", "MODE"), help="print one row as JSON"
    )
    parser.add_argument("--lock", type=Path, help="the file that measuring processes lock")
    options = parser.parse_args()
    device = torch.device(options.device)
    is_rehearsal = device.type == "cpu"
    shape = REHEARSED if is_rehearsal else SHAPE
    cases = {case.name: case for case in CASES}
    if options.only is not None:
        name, mode = options.only
        print(json.dumps(measure(cases[name], mode, shape, device, options.seconds, options.lock)))
        return
    info = machine(device)
    records: list[dict[str, Any]] = []
    jobs = [(case, mode) for mode in MODES for case in CASES]
    if is_rehearsal:  # compiling takes half a minute of a core for each
        jobs = [(cases["cas_lstm"], "default")]
    arguments = ["--device", options.device, "--output", str(options.output)]
    arguments += ["--seconds", str(options.seconds)]
    with tempfile.NamedTemporaryFile() as lock, ThreadPoolExecutor(len(jobs)) as pool:
        futures = [
            pool.submit(measure_in_process, case, mode, arguments, Path(lock.name))
            for case, mode in jobs
        ]
        for future in as_completed(futures):
            records.append(future.result())
            save(options.output, info, records, COLUMNS)
    write(options.output, info, records, COLUMNS)


if __name__ == "__main__":
    main()
