"""Train a configuration with several seeds and print the mean and the spread of its figures.

    python -m scripts.results.run_seeds training_config/sick/cas_lstm.jsonnet out/sick/cas_lstm \
        --overrides training_config/local/sick.json --seeds 1 2 3

Each seed is one `allennlp train` into OUTPUT/SEED. A seed that has finished is not trained again,
so an interrupted series can be resumed; `--recover` continues the seed that was interrupted, too,
with the result that it would have had (docs/recovery.md). It starts again if its settings, nn/,
models/ or training/ have changed since. `--jobs 2` trains two seeds at a time, which share the
cores: on two cores, each has one thread.

`--record docs/results/sick.json` puts the figures of each seed, as soon as it has finished, into
the row of the configuration and the overrides in that file; `fill_tables.py` makes the tables of
the documentation from such files. Seeds of the row are neither trained nor recorded again, even if
OUTPUT no longer exists, if their settings are known to equal those of today's configuration and
overrides. `rows.py` describes a row. The figures must be reproducible: nothing is recorded from a
tree with uncommitted changes, from a commit that is on no branch, without the compiled steps, whose
rounding differs, or for a seed that was trained without `--record` or with other settings or
mathematics (`is_same_experiment`). The models' scores on each item of the test data go into
docs/results/items/sick.jsonl.gz; without test figures, the scores on the validation data. `data`
says which of the two.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Optional

from allennlp.common.params import parse_overrides

from allennlp_sentmatch.environment import has_compiled_steps, processor
from allennlp_sentmatch.tuning.report import minutes_of
from scripts.experiments import REPOSITORY
from scripts.results.commands import unwrapped
from scripts.results.rows import (
    Origin,
    Series,
    common_figures,
    record,
    record_items,
    recorded_seeds,
)
from scripts.results.settings import digest_of
from scripts.results.tables import write_whole

MATHEMATICS = tuple(f"allennlp_sentmatch/{name}" for name in ("nn", "models", "training"))
"""The code that computes the figures: changes elsewhere do not affect a run with equal settings."""


class Training(NamedTuple):
    """A configuration with overrides to train, into a folder for each seed."""

    config: Path
    overrides: dict[str, Any]
    output: Path
    threads: Optional[int] = None
    """The threads of each run; `None` uses the environment's number."""
    commit: Optional[str] = None
    """The commit that the file OUTPUT/SEED.started names, if any."""

    def folder(self, seed: int) -> Path:
        """Return the folder of a seed."""
        return self.output / str(seed)

    def started(self, seed: int) -> Path:
        """Return the file with the origin of a run, written when it starts."""
        return self.output / f"{seed}.started"

    def origin(self, seed: int) -> Optional[Origin]:
        """Return the origin of a run, finished or not; `None` if it is not known."""
        try:
            values = json.loads(self.started(seed).read_text(encoding="utf-8"))
            return Origin(**values)
        except (OSError, ValueError, TypeError):
            return None


def train(
    training: Training, seed: int, recover: bool = False, keep_open: Sequence[int] = ()
) -> None:
    """Run `allennlp train` for one seed.

    With `recover`, continue a run that was interrupted, if `can_continue` permits it. The training
    keeps the file descriptors `keep_open`, such as a lock's, until it ends.
    """
    output = training.folder(seed)
    output.parent.mkdir(parents=True, exist_ok=True)
    origin = Origin(training.commit, processor(), digest_of(training.config, training.overrides))
    is_continued = recover and can_continue(training, seed, origin.digest)
    if is_continued:
        origin = continued(training.origin(seed), origin)
    write_whole(training.started(seed), json.dumps(origin._asdict()).encode())
    seeds = {"random_seed": seed, "numpy_seed": seed, "pytorch_seed": seed}
    command = [
        str(Path(sys.executable).with_name("allennlp")),
        "train", str(training.config), "--serialization-dir", str(output),
        "--recover" if is_continued else "--force",
        "--file-friendly-logging", "--overrides", json.dumps({**training.overrides, **seeds}),
    ]  # fmt: skip
    environment = dict(os.environ)
    if training.threads is not None:
        environment["OMP_NUM_THREADS"] = str(training.threads)
    log = output.with_suffix(".log")
    with log.open("a" if is_continued else "w", encoding="utf-8") as file:
        result = subprocess.run(
            command, env=environment, stdout=file, stderr=file, pass_fds=keep_open
        )
    if result.returncode != 0:
        sys.exit(f"`allennlp train` failed for seed {seed}; the reason is at the end of {log}")


def can_continue(training: Training, seed: int, digest: str) -> bool:
    """Return whether an interrupted run has a checkpoint, and is still the same experiment."""
    has_checkpoint = any(training.folder(seed).glob("*state_*.th"))
    return has_checkpoint and is_same_experiment(training.origin(seed), digest)


def is_same_experiment(origin: Optional[Origin], digest: str) -> bool:
    """Return whether a run began with these settings, and with today's mathematics.

    The mathematics are the files of `MATHEMATICS`: changes to other files do not affect a run.
    """
    if origin is None or origin.revision is None or origin.digest != digest:
        return False
    return has_same_mathematics(origin.revision.split(", ")[0])


def continued(before: Optional[Origin], now: Origin) -> Origin:
    """Return the origin of a continued run, with all of its commits and processors."""
    if before is None:
        return now
    revisions = [*(before.revision or "").split(", "), now.revision]
    processors = [*before.processor.split(" and "), now.processor]
    return Origin(
        ", ".join(dict.fromkeys(filter(None, revisions))),
        " and ".join(dict.fromkeys(processors)),
        now.digest,
    )


def has_same_mathematics(commit: str) -> bool:
    """Return whether the files of `MATHEMATICS` are the same as at a commit."""
    difference = ["git", "diff", "--quiet", commit, "--", *MATHEMATICS]
    return subprocess.run(difference, cwd=REPOSITORY, capture_output=True).returncode == 0


def summarize(values: list[float]) -> str:
    """Return the mean and, with several seeds, the standard deviation."""
    text = f"{statistics.mean(values):.4f}"
    if len(values) > 1:
        text += f" +- {statistics.stdev(values):.4f}"
    return f"{text}  ({', '.join(f'{value:.4f}' for value in values)})"


def command_without_seeds(training: Training, overrides: str, record: Path, jobs: int) -> list[str]:
    """Return the words of the command that trains and records, without `--seeds`."""
    words = ["python", "-m", "scripts.results.run_seeds", training.config, training.output]
    if overrides:
        words += ["--overrides", overrides]
    if jobs > 1:
        words += ["--jobs", jobs]
    return [*map(str, words), "--record", str(record)]


def revision() -> str:
    """Find the commit that reproduces the figures: the latest one that changed more than docs/.

    # Raises

    `SystemExit` if files outside docs/ differ from the commit or are new, no branch contains it, or
    the steps of the recurrences are not compiled.
    """
    changed = git("status", "--porcelain", "--", ".", ":!docs")
    if changed:
        sys.exit(f"figures are recorded from a commit; commit or remove these files:\n{changed}")
    if not git("for-each-ref", "--contains", "HEAD", "refs/heads", "refs/remotes"):
        sys.exit("no branch holds this commit; figures are recorded from a branch")
    if not has_compiled_steps():
        sys.exit("figures are recorded with the compiled steps; build them with `make install`")
    return git("log", "-1", "--format=%h", "HEAD", "--", ".", ":!docs").strip()


def check_origin(training: Training, seed: int, digest: str) -> Origin:
    """Return the origin of a finished run; exit unless today's command would reproduce it.

    `digest` is the digest of the configuration's current settings.
    """
    origin = training.origin(seed)
    if origin is not None and is_same_experiment(origin, digest):
        return origin
    trained = "an unknown commit, without --record"
    if origin is not None and origin.revision is not None:
        trained = f"{origin.revision}, with other settings or another {', '.join(MATHEMATICS)}"
    sys.exit(f"{training.folder(seed)} was trained at {trained}; remove it to train it again")


def git(*arguments: str) -> str:
    """Run git in the repository, and return what it prints."""
    return subprocess.run(
        ["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True
    ).stdout


def finish(
    training: Training, series: Series, seed: int, command: Sequence[str], is_new: bool
) -> None:
    """Record a finished run, unless its seed is recorded, and the scores of its items.

    `is_new`: the run has just been trained, so that earlier scores are replaced.
    """
    output = training.folder(seed)
    run = read_metrics(output)
    digest = digest_of(training.config, training.overrides)
    if seed not in valid_seeds(series, digest):
        origin = check_origin(training, seed, digest)
        record(series, seed, run, command, origin, training.threads)
    archive = output / "model.tar.gz"
    if archive.is_file():
        is_tested = any(name.startswith("test_") for name in run)
        data = "test" if is_tested else "validation"
        record_items(series, seed, archive, data, again=is_new)


def valid_seeds(series: Series, digest: str) -> list[int]:
    """Return the seeds of a row that are known to have been trained with these settings."""
    recorded = recorded_seeds(series)
    return [seed for seed in recorded if recorded[seed]["digests"] == digest]


def read_metrics(output: Path) -> dict[str, Any]:
    """Read the metrics of the finished run in a folder."""
    run: dict[str, Any] = json.loads((output / "metrics.json").read_text(encoding="utf-8"))
    return run


def is_finished(output: Path) -> bool:
    """Return whether the training into a folder has ended."""
    return (output / "metrics.json").is_file()


def parsed(overrides: str) -> tuple[dict[str, Any], str]:
    """Return the evaluated overrides, and their Jsonnet for a row.

    `overrides` are Jsonnet, or the name of a JSON or Jsonnet file.
    """
    is_file = overrides.endswith((".json", ".jsonnet", ".libsonnet"))
    text = f"import '{overrides}'" if is_file else overrides
    return parse_overrides(text), unwrapped(text)


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Train a configuration with several seeds.")
    parser.add_argument("config", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument(
        "--overrides", default="", help="a JSON or Jsonnet file, or Jsonnet as `allennlp -o` takes"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--jobs", type=int, default=1, help="how many seeds to train at a time")
    parser.add_argument("--record", type=Path, help="a JSON file of results to put the figures in")
    parser.add_argument(
        "--recover", action="store_true", help="continue interrupted runs, rather than begin again"
    )
    arguments = parser.parse_args()
    if arguments.jobs < 1:
        parser.error(f"--jobs must be at least 1, got {arguments.jobs}")
    return arguments


def threads_of_each(jobs: int) -> Optional[int]:
    """Return the threads of each parallel run; `None` for a single one."""
    if jobs == 1:
        return None
    # More threads than cores would wait for each other, and slow down all runs.
    return max(1, (os.cpu_count() or 1) // jobs)


def main() -> None:
    """Train every seed of the command line and print the figures."""
    arguments = parse_arguments()
    overrides, text = parsed(arguments.overrides)
    threads = threads_of_each(arguments.jobs)
    commit = None if arguments.record is None else revision()
    training = Training(arguments.config, overrides, arguments.output, threads, commit)
    finished = [seed for seed in arguments.seeds if is_finished(training.folder(seed))]
    series = None
    recorded: list[int] = []
    if arguments.record is not None:
        series = Series(arguments.record, arguments.config, text)
        recorded = recorded_with_these_settings(training, series, finished)
        command = command_without_seeds(
            training, arguments.overrides, arguments.record, arguments.jobs
        )
    left_out = [seed for seed in arguments.seeds if seed in recorded and seed not in finished]
    for seed in left_out:
        print(f"seed {seed} is in {arguments.record}")
    trained = [seed for seed in arguments.seeds if seed not in left_out]
    with ThreadPoolExecutor(arguments.jobs) as executor:
        futures = {}
        for seed in trained:
            if seed not in finished:
                futures[seed] = executor.submit(train, training, seed, arguments.recover)
        try:
            for seed in trained:
                if seed in futures:
                    futures[seed].result()
                if series is not None:
                    finish(training, series, seed, command, is_new=seed in futures)
        finally:  # if one fails, start no others
            executor.shutdown(cancel_futures=True)
    print_summary(arguments, [read_metrics(training.folder(seed)) for seed in trained])


def recorded_with_these_settings(
    training: Training, series: Series, finished: Sequence[int]
) -> list[int]:
    """Return the seeds that are recorded with today's settings.

    Exit, before anything is trained, if a finished run that is not recorded has others.
    """
    digest = digest_of(training.config, training.overrides)
    recorded = valid_seeds(series, digest)
    for seed in finished:
        if seed not in recorded:
            check_origin(training, seed, digest)
    return recorded


def print_summary(arguments: argparse.Namespace, runs: Sequence[dict[str, Any]]) -> None:
    """Print the mean and the spread of the figures of runs, if there are any."""
    if not runs:
        return
    print(f"{arguments.config}, seeds {arguments.seeds}")
    for name in common_figures(runs):
        print(f"  {name}: {summarize([run[name] for run in runs])}")
    durations = [minutes_of(run["training_duration"]) for run in runs]
    print(f"  training minutes: {', '.join(f'{minutes:.1f}' for minutes in durations)}")


if __name__ == "__main__":
    main()
