"""Train a configuration with several seeds and print the mean and the spread of its figures.

    python -m scripts.results.run_seeds training_config/sick/cas_lstm.jsonnet out/sick/cas_lstm \
        --overrides training_config/local/sick.json --seeds 1 2 3

Each seed is one `allennlp train` into OUTPUT/SEED. A seed that has finished is not trained again,
so an interrupted series can be resumed. `--jobs 2` trains two seeds at a time, which share the
cores: on two cores, each has one thread.

`--record docs/results/sick.json` puts the figures of each seed, as soon as it has finished, into
the row of the configuration and the overrides in that file; `fill_tables.py` makes the
tables of the documentation from such files. Seeds of the row are neither trained nor recorded
again, whether or not OUTPUT is still there. The figures must come back: nothing is recorded from a
tree with uncommitted changes, from a commit that no branch holds, without the compiled steps, whose
rounding differs, or of a seed that was trained without `--record` or at another commit. How the
models do on each item of the test data goes into docs/results/items/sick.jsonl.gz
(`item_scores.py`); without test figures, how they do on the validation data. `data` says which of
the two.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any, Optional

from allennlp.common.params import parse_overrides

from allennlp_sentmatch.environment import has_compiled_steps, processor
from allennlp_sentmatch.tuning.report import machine, minutes_of
from scripts.experiments import CONFIGURATIONS, REPOSITORY
from scripts.results.commands import quoted, unwrapped
from scripts.results.tables import read_items, read_table, write_items, write_table


def train(
    config: Path,
    output: Path,
    overrides: dict[str, Any],
    seed: int,
    threads: Optional[int] = None,
    commit: Optional[str] = None,
) -> None:
    """Run `allennlp train` for one seed, with this many threads or as the environment says.

    The `commit` goes into the file OUTPUT/revision.
    """
    seeds = {"random_seed": seed, "numpy_seed": seed, "pytorch_seed": seed}
    command = [
        str(Path(sys.executable).with_name("allennlp")),
        "train", str(config), "--serialization-dir", str(output), "--force",
        "--file-friendly-logging", "--overrides", json.dumps({**overrides, **seeds}),
    ]  # fmt: skip
    log = output.with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    environment = os.environ if threads is None else {**os.environ, "OMP_NUM_THREADS": str(threads)}
    with log.open("w", encoding="utf-8") as file:
        status = subprocess.run(command, env=environment, stdout=file, stderr=file).returncode
    if status != 0:
        sys.exit(f"`allennlp train` failed for seed {seed}; the reason is at the end of {log}")
    if commit is not None:
        (output / "revision").write_text(commit)


def summarize(values: list[float]) -> str:
    """Return the mean, and the standard deviation over the seeds where there are several."""
    text = f"{statistics.mean(values):.4f}"
    if len(values) > 1:
        text += f" +- {statistics.stdev(values):.4f}"
    return f"{text}  ({', '.join(f'{value:.4f}' for value in values)})"


def record(
    path: Path,
    config: Path,
    overrides: str,
    seed: int,
    run: dict[str, Any],
    command: list[str],
    commit: str,
    threads: Optional[int] = None,
) -> None:
    """Put the figures of a run into the file's row of the configuration and overrides.

    The file is made if it does not exist. The row keeps its other seeds, and fields such as `model`
    and `differs`. `command` trains the seed at `commit`; the row's command has all of its seeds,
    its `machine` all of their processors, and its `revision` all of their commits.
    """
    table = read_table(path, empty_table())
    row = row_of(table, config, overrides)
    others = seeds_in(row)
    by_seed = dict(sorted({**others, seed: figures_of(run)}.items()))
    revisions = [*(row["revision"].split(", ") if others else ()), commit]
    processors = [*(row["machine"]["processor"].split(" and ") if others else ()), processor()]
    names = set.intersection(*(set(figures["metrics"]) for figures in by_seed.values()))
    row.update(
        {
            "configuration": name_of(config),
            "overrides": overrides,
            "metrics": {
                name: [figures["metrics"][name] for figures in by_seed.values()]
                for name in sorted(names)
            },
            "seeds": list(by_seed),
            **{key: [one[key] for one in by_seed.values()] for key in ("epochs", "minutes")},
            "machine": {
                "processor": " and ".join(dict.fromkeys(processors)),
                **machine(threads),
            },
            "date": date.today().isoformat(),
            "revision": ", ".join(dict.fromkeys(revisions)),
            "command": " ".join(map(quoted, [*command, "--seeds", *map(str, by_seed)])),
        }
    )
    table["metrics"] = table["metrics"] or {name: name for name in row["metrics"]}
    write_table(path, table)


def empty_table() -> dict[str, Any]:
    """Return a file of results without rows."""
    return {"data": "", "vectors": "", "metrics": {}, "rows": []}


def row_of(table: dict[str, Any], config: Path, overrides: str) -> dict[str, Any]:
    """Return the row of a configuration and its overrides; add it if it is missing."""
    name = name_of(config)
    for row in table["rows"]:
        if (row.get("configuration"), row.get("overrides", overrides)) == (name, overrides):
            found: dict[str, Any] = row
            return found
    table["rows"].append({"model": name})
    added: dict[str, Any] = table["rows"][-1]
    return added


def seeds_in(row: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Return a row's figures by seed; none if it was not written by this script."""
    if "overrides" not in row:
        return {}
    return {
        seed: {
            "metrics": {name: values[index] for name, values in row["metrics"].items()},
            "epochs": row["epochs"][index],
            "minutes": row["minutes"][index],
        }
        for index, seed in enumerate(row["seeds"])
    }


def figures_of(run: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of a run's metrics.json that are recorded."""
    return {
        "metrics": {
            name.replace("best_validation", "validation").removeprefix("test_"): round(run[name], 4)
            for name in common_figures([run])
        },
        "epochs": f"{run['best_epoch'] + 1} of {run['epoch'] + 1}",
        "minutes": round(minutes_of(run["training_duration"]), 1),
    }


def name_of(config: Path) -> str:
    """Return a configuration's path under training_config/, without the suffix."""
    return config.resolve().relative_to(CONFIGURATIONS).with_suffix("").as_posix()


def record_items(results: Path, key: dict[str, Any], archive: Path, data: str, again: bool) -> None:
    """Put the scores of the items, if the model has them, into the line of `key`.

    `data` is "test" or "validation"; a line that is there is replaced only `again`.
    """
    lines = read_items(results)
    others = [line for line in lines if not line.items() >= key.items()]
    if len(others) < len(lines) and not again:
        return
    command = [
        sys.executable, "-m", "scripts.results.item_scores", str(archive), "--data", data,
    ]  # fmt: skip
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    scores = json.loads(result.stdout)
    if scores is None:
        return
    if all(score in (0.0, 1.0) for score in scores):
        scores = "".join(str(int(score)) for score in scores)
    write_items(results, [*others, {**key, "data": data, "scores": scores}])


def common_figures(runs: list[dict[str, Any]]) -> list[str]:
    """Return the names of the validation and test figures that all runs have."""
    names = set.intersection(*(set(run) for run in runs))
    return sorted(name for name in names if name.startswith(("best_validation_", "test_")))


def command_without_seeds(arguments: argparse.Namespace) -> list[str]:
    """Return the words of this command, all but `--seeds`."""
    words = ["python", "-m", "scripts.results.run_seeds", arguments.config, arguments.output]
    if arguments.overrides:
        words += ["--overrides", arguments.overrides]
    if arguments.jobs > 1:
        words += ["--jobs", arguments.jobs]
    return [*map(str, words), "--record", str(arguments.record)]


def revision() -> str:
    """Find the commit of the repository, from which figures come back.

    # Raises

    `SystemExit` if files outside docs/ differ from the commit or are new, no branch holds it, or
    the steps of the recurrences are not compiled.
    """
    changed = git("status", "--porcelain", "--", ".", ":!docs")
    if changed:
        sys.exit(f"figures are recorded from a commit; commit or remove these files:\n{changed}")
    if not git("for-each-ref", "--contains", "HEAD", "refs/heads", "refs/remotes"):
        sys.exit("no branch holds this commit; figures are recorded from a branch")
    if not has_compiled_steps():
        sys.exit("figures are recorded with the compiled steps; build them with `make install`")
    return git("rev-parse", "--short", "HEAD").strip()


def check_revision(output: Path, commit: str) -> None:
    """Exit unless the run in a folder was trained at `commit`, at which the repository still is."""
    file = output / "revision"
    trained = file.read_text() if file.exists() else "an unknown commit, without --record"
    if (trained, revision()) != (commit, commit):
        sys.exit(f"{output} was trained at {trained}, not at {commit}; remove it to train it again")


def git(*arguments: str) -> str:
    """Run git in the repository, and return what it prints."""
    return subprocess.run(
        ["git", *arguments], cwd=REPOSITORY, capture_output=True, text=True
    ).stdout


def main() -> None:
    """Train every seed of the command line and print the figures."""
    parser = argparse.ArgumentParser(description="Train a configuration with several seeds.")
    parser.add_argument("config", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument(
        "--overrides", default="", help="a JSON or Jsonnet file, or Jsonnet as `allennlp -o` takes"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--jobs", type=int, default=1, help="how many seeds to train at a time")
    parser.add_argument("--record", type=Path, help="a JSON file of results to put the figures in")
    arguments = parser.parse_args()
    config, path = arguments.config, arguments.record
    if arguments.jobs < 1:
        parser.error(f"--jobs must be at least 1, got {arguments.jobs}")
    is_file = arguments.overrides.endswith((".json", ".jsonnet", ".libsonnet"))
    text = f"import '{arguments.overrides}'" if is_file else arguments.overrides
    overrides = parse_overrides(text)
    text = unwrapped(text)

    commit = None if path is None else revision()
    recorded = (
        {} if path is None else seeds_in(row_of(read_table(path, empty_table()), config, text))
    )
    outputs = {seed: arguments.output / str(seed) for seed in arguments.seeds}
    finished = {seed for seed in outputs if (outputs[seed] / "metrics.json").is_file()}
    missing = [seed for seed in outputs if seed not in finished and seed not in recorded]
    if commit is not None:  # refuse earlier runs before others are trained
        for seed in finished - recorded.keys():
            check_revision(outputs[seed], commit)
    # More threads than cores would wait for each other: all runs would be slower.
    threads = None if arguments.jobs == 1 else max(1, (os.cpu_count() or 1) // arguments.jobs)
    runs = []
    with ThreadPoolExecutor(arguments.jobs) as executor:
        futures = {
            seed: executor.submit(train, config, outputs[seed], overrides, seed, threads, commit)
            for seed in missing
        }
        try:
            for seed, output in outputs.items():
                if seed in futures:
                    futures[seed].result()
                elif seed not in finished:
                    print(f"seed {seed} is in {path}")
                    continue
                runs.append(json.loads((output / "metrics.json").read_text(encoding="utf-8")))
                if path is None or commit is None:
                    continue
                if seed not in recorded:
                    check_revision(output, commit)
                    command = command_without_seeds(arguments)
                    record(path, config, text, seed, runs[-1], command, commit, threads)
                archive = output / "model.tar.gz"
                if archive.is_file():
                    key = {"configuration": name_of(config), "overrides": text, "seed": seed}
                    is_tested = any(name.startswith("test_") for name in runs[-1])
                    data = "test" if is_tested else "validation"
                    record_items(path, key, archive, data, again=seed in missing)
        finally:  # if one fails, start no more
            executor.shutdown(cancel_futures=True)
    if not runs:
        return
    print(f"{config}, seeds {arguments.seeds}")
    for name in common_figures(runs):
        print(f"  {name}: {summarize([run[name] for run in runs])}")
    durations = [minutes_of(run["training_duration"]) for run in runs]
    print(f"  training minutes: {', '.join(f'{minutes:.1f}' for minutes in durations)}")


if __name__ == "__main__":
    main()
