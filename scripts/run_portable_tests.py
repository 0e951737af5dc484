"""Run the test suite with other CPUs' instructions, and other numbers of threads.

    python -m scripts.run_portable_tests                # everything; over an hour
    python -m scripts.run_portable_tests tests/modules tests/models -k contract

A CPU's rounding depends on the instructions that torch, oneDNN and MKL use, and on the division of
work among threads. Each run makes all three libraries use the instructions of one generation of
CPUs. Arguments go to pytest. The output ends with a table, and the status is 1 if any run failed.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import Optional

import torch

REPOSITORY = Path(__file__).resolve().parents[1]
VARIABLES = ("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS")
INSTRUCTIONS = {
    "DEFAULT": ("default", "SSE41", "SSE4_2"),
    "AVX2": ("avx2", "AVX2", "AVX2"),
    "AVX512": ("avx512", "AVX512_CORE", "AVX512"),
}
"""The values of `VARIABLES` for each of torch's CPU capabilities, the oldest first."""
UNSET = (None, None, None)
"""The libraries use all of the CPU's instructions."""

Run = tuple[tuple[Optional[str], ...], int, bool]
"""The values of `VARIABLES`, the number of threads, and whether other processes use the cores."""


def runs() -> list[Run]:
    """Return all runs for which this CPU has the instructions, and one on busy cores."""
    newest = torch.backends.cpu.get_cpu_capability()
    known = list(INSTRUCTIONS)
    count = known.index(newest) + 1 if newest in known else 1
    older = [INSTRUCTIONS[name] for name in known[:count]]
    return [*((*run, False) for run in product([*older, UNSET], (1, 2))), (UNSET, 2, True)]


def environment(run: Run) -> dict[str, str]:
    """Return the environment of the tests."""
    values, threads, _ = run
    settings = {name: value for name, value in zip(VARIABLES, values) if value is not None}
    threads_settings = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    others = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return {**others, **settings, **threads_settings}


def run_tests(run: Run, arguments: list[str]) -> tuple[int, str]:
    """Return pytest's status and its last line."""
    busy = [sys.executable, "-c", "while True: sum(range(10_000))"]
    disturbers = [subprocess.Popen(busy) for _ in range((os.cpu_count() or 1) * run[2])]
    lines = ["no output"]
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    pipe = subprocess.PIPE
    try:
        with subprocess.Popen(
            command, cwd=REPOSITORY, env=environment(run), stdout=pipe, text=True
        ) as process:
            for line in filter(str.strip, process.stdout or ()):
                if re.match(r"(FAILED|ERROR)\b", line):
                    print(f"    {line.rstrip()}", flush=True)
                lines.append(line.strip())
    finally:
        for disturber in disturbers:
            disturber.kill()
            disturber.wait()
    return process.returncode, lines[-1]


def main() -> None:
    """Run the matrix and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count(),
        help="pytest's processes",
    )
    options, arguments = parser.parse_known_args()
    arguments = ["-n", str(options.jobs), "-m", "not slow and not browser", *arguments]
    titles = (*VARIABLES, "threads", "busy", "minutes", "result")
    matrix = runs()
    failed = False
    rows = [" | ".join(titles), " | ".join("---" for _ in titles)]
    for number, run in enumerate(matrix, 1):
        values, threads, busy = run
        cells = [*(value or "unset" for value in values), str(threads), "yes" if busy else "no"]
        print(f"== Run {number} of {len(matrix)}: {', '.join(cells)}", flush=True)
        start = time.monotonic()
        status, summary = run_tests(run, arguments)
        failed = failed or status != 0
        print(f"    {summary}", flush=True)
        rows.append(" | ".join([*cells, f"{(time.monotonic() - start) / 60:.1f}", summary]))
    print("", *(f"| {row} |" for row in rows), sep="\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
