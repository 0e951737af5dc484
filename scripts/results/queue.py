"""Train the rows that the claims of the papers still need, one run after another.

    OMP_NUM_THREADS=1 nice -n 19 python -m scripts.results.queue out/queue
    python -m scripts.results.queue out/queue --list

The queue asks which run decides most per minute, trains it, records it as `run_seeds.py` does, and
commits the files of results, until no run is left (`plan.py`). It can be stopped at any moment,
even by `kill -9`, and started again: an interrupted run continues from its last epoch. If its
training is still running, the queue waits for it. Use a separate worktree, since it refuses to
record from uncommitted changes.

**Changes of the code.** A recorded seed counts for its claims unless its settings are known to
differ from those of today's configuration. An interrupted run is continued if, in addition, nn/,
models/ and training/ have not changed since it began (`run_seeds.can_continue`); otherwise, it
starts again.
"""

import argparse
import fcntl
import subprocess
from pathlib import Path
from typing import IO, Optional

from scripts.experiments import REPOSITORY
from scripts.results.plan import Run, Wanted, new_table, outdated_runs, planned_runs, steps
from scripts.results.run_seeds import (
    command_without_seeds,
    finish,
    is_finished,
    revision,
    train,
)
from scripts.results.tables import read_table, write_table


def next_run(output: Path, failed: set[Run]) -> Optional[Run]:
    """Return an interrupted run, or the first one of the plan that has not failed."""
    runs = (run for run in planned_runs() if run not in failed)
    if not any(output.rglob("*.started")):
        return next(runs, None)
    planned = list(runs)
    begun = [run for run in planned if run.training(output).started(run.seed).exists()]
    return next(iter([*begun, *planned]), None)


def train_and_record(run: Run, output: Path, lock: IO[str]) -> None:
    """Train a run, or continue it, record it and commit the files of results."""
    training = run.training(output, revision())
    series = run.row.series()
    is_new = not is_finished(training.folder(run.seed))
    if is_new:
        train(training, run.seed, recover=True, keep_open=[lock.fileno()])
    record = series.results.relative_to(REPOSITORY)
    command = command_without_seeds(training, run.row.overrides, record, jobs=1)
    if not series.results.exists():
        write_table(series.results, new_table(run.row.file))
    finish(training, series, run.seed, command, is_new)
    name_model(run.row)
    training.started(run.seed).unlink(missing_ok=True)
    commit_results(f"Record seed {run.seed} of {run.row.configuration} in {run.row.file}")


def commit_results(message: str) -> None:
    """Commit the files of results."""
    subprocess.run(["git", "add", "docs/results"], cwd=REPOSITORY, check=True)
    subprocess.run(["git", "commit", "--quiet", "-m", message], cwd=REPOSITORY, check=True)


def name_model(row: Wanted) -> None:
    """Give a new row the name of its model, and its differences from the paper."""
    path = row.series().results
    table = read_table(path)
    for one in table["rows"]:
        if (one.get("configuration"), one.get("overrides")) == (row.configuration, row.overrides):
            one["model"] = row.model
            if row.differs:
                one["differs"] = row.differs
    write_table(path, table)


def lock_output(output: Path) -> IO[str]:
    """Wait until no other queue, or a killed queue's training, uses the folder."""
    output.mkdir(parents=True, exist_ok=True)
    lock = (output / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"waiting for the training that still runs in {output}", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def print_plan() -> None:
    """Print the steps of the claims and the outdated runs, with minutes."""
    for step in steps():
        minutes = sum(run.row.minutes for run in step.runs)
        needed = ", ".join(f"{run.row.configuration} seed {run.seed}" for run in step.runs)
        print(f"{step.value:.3f} points a minute, {minutes:.0f} minutes: {step.claim}: {needed}")
    for run in outdated_runs():
        print(f"{run.row.minutes:.0f} minutes: {run.row.file}, {run.row.model}, seed {run.seed}")


def work(output: Path) -> None:
    """Train run after run until none is left."""
    lock = lock_output(output)
    failed: set[Run] = set()
    while True:
        run = next_run(output, failed)
        if run is None:
            return
        print(f"{run.row.file}: {run.row.model}, seed {run.seed}", flush=True)
        try:
            train_and_record(run, output, lock)
        except SystemExit as error:
            print(f"not recorded: {error}", flush=True)
            failed.add(run)


def main() -> None:
    """Work through the queue, or list it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("output", type=Path, help="a folder for the trainings")
    parser.add_argument("--list", action="store_true", help="print the order, and train nothing")
    arguments = parser.parse_args()
    if arguments.list:
        print_plan()
    else:
        work(arguments.output)


if __name__ == "__main__":
    main()
