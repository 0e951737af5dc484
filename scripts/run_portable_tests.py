"""Run the test suite as CPUs with other instructions, and other numbers of threads, would run it.

    python scripts/run_portable_tests.py                # everything; over an hour
    python scripts/run_portable_tests.py tests/modules tests/models -k contract

How a CPU rounds depends on the instructions that torch, oneDNN and MKL use, and on how the work is
split over threads. Each run makes all three libraries use the instructions of one generation of
CPUs. Arguments go to pytest. A table ends the output, and the status is 1 if any run failed.
"""

import argparse
import multiprocessing
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import torch

REPOSITORY = Path(__file__).resolve().parents[1]
CAPABILITIES = ("default", "avx2", "avx512")
"""The values of `ATEN_CPU_CAPABILITY`, from the oldest instructions to the newest."""
OLDER_INSTRUCTIONS = {
    "default": ("SSE41", "SSE4_2"),
    "avx2": ("AVX2", "AVX2"),
    "avx512": ("AVX512_CORE", "AVX512"),
}
"""`ONEDNN_MAX_CPU_ISA` and `MKL_ENABLE_INSTRUCTIONS` of the same generation."""
THREADS = (1, 2)


@dataclass(frozen=True)
class Run:
    """One run of the suite; `None` leaves a variable unset, so that a library uses all it can."""

    aten: Optional[str]
    onednn: Optional[str]
    mkl: Optional[str]
    threads: int
    busy: bool = False

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the tests."""
        settings = {
            "ATEN_CPU_CAPABILITY": self.aten,
            "ONEDNN_MAX_CPU_ISA": self.onednn,
            "MKL_ENABLE_INSTRUCTIONS": self.mkl,
            "OMP_NUM_THREADS": str(self.threads),
            "MKL_NUM_THREADS": str(self.threads),
        }
        environment = {name: value for name, value in os.environ.items() if name not in settings}
        environment.update((name, value) for name, value in settings.items() if value is not None)
        return environment

    @property
    def cells(self) -> tuple[str, ...]:
        """The settings as cells of the table."""
        instructions = (name or "unset" for name in (self.aten, self.onednn, self.mkl))
        return *instructions, str(self.threads), "yes" if self.busy else "no"


def runs() -> list[Run]:
    """The whole matrix, as far as this CPU has the instructions, and one run on busy cores."""
    newest = torch.backends.cpu.get_cpu_capability().lower()
    count = CAPABILITIES.index(newest) + 1 if newest in CAPABILITIES else 1
    older = [(name, *OLDER_INSTRUCTIONS[name]) for name in CAPABILITIES[:count]]
    matrix = [
        Run(*instructions, threads)
        for instructions in [*older, (None, None, None)]
        for threads in THREADS
    ]
    return [*matrix, Run(None, None, None, 2, busy=True)]


def keep_busy() -> None:
    """Use one core until the process is ended."""
    while True:
        sum(range(10_000))


def run_tests(run: Run, arguments: list[str]) -> tuple[int, str, float]:
    """Pytest's status, its last line and the seconds it took."""
    disturbers = [
        multiprocessing.Process(target=keep_busy, daemon=True)
        for _ in range((os.cpu_count() or 1) if run.busy else 0)
    ]
    for disturber in disturbers:
        disturber.start()
    start = time.monotonic()
    try:
        with subprocess.Popen(
            [sys.executable, "-m", "pytest", "-q", *arguments],
            cwd=REPOSITORY,
            env=run.environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            lines = []
            for line in process.stdout or ():
                if re.match(r"(FAILED|ERROR)\b", line):
                    print(f"    {line.rstrip()}", flush=True)
                lines.append(line.strip())
    finally:
        for disturber in disturbers:
            disturber.terminate()
            disturber.join()
    summary = next((line for line in reversed(lines) if line), "no output")
    return process.returncode, summary, time.monotonic() - start


def table(rows: list[tuple[str, ...]]) -> str:
    """A Markdown table whose columns are aligned."""
    header = (
        "ATEN_CPU_CAPABILITY",
        "ONEDNN_MAX_CPU_ISA",
        "MKL_ENABLE_INSTRUCTIONS",
        "threads",
        "busy",
        "minutes",
        "result",
    )
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    rule = tuple("-" * width for width in widths)
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
        for row in (header, rule, *rows)
    )


def main() -> None:
    """Run the matrix and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="pytest's processes")
    options, arguments = parser.parse_known_args()
    arguments = ["-n", str(options.jobs), "-m", "not slow and not browser", *arguments]
    matrix, rows, failed = runs(), [], False
    for number, run in enumerate(matrix, 1):
        print(f"== Run {number} of {len(matrix)}: {', '.join(run.cells)}", flush=True)
        status, summary, seconds = run_tests(run, arguments)
        failed = failed or status != 0
        print(f"    {summary}", flush=True)
        rows.append((*run.cells, f"{seconds / 60:.1f}", summary))
    print(f"\n{table(rows)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
