"""The queue trains first what decides a claim, and continues after an interruption."""

import json
import math
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from scripts.results import plan, queue, run_seeds
from scripts.results.plan import Run, Wanted, choose_seeds, interval_width, next_step

CLAIM = {
    "claim": "A above B",
    "source": "a paper",
    "data": "SICK",
    "results": "sick.json",
    "metric": "accuracy",
    "higher": "A",
    "lower": "sick/bilstm",
}


def row(model: str, configuration: str, figures: dict[int, float], digest="d1", minutes=4.0):
    """A recorded row; the spread of its figures is known with at least three seeds."""
    number = len(figures)
    return {
        "model": model,
        "configuration": configuration,
        "overrides": "{}",
        "metrics": {"accuracy": list(figures.values())},
        "seeds": list(figures),
        "epochs": ["1 of 1"] * number,
        "minutes": [minutes] * number,
        "revisions": ["aaaaaaa"] * number,
        "processors": ["B"] * number,
        "digests": [digest] * number,
    }


@pytest.fixture
def results(tmp_path, monkeypatch) -> Path:
    """A folder of results; each configuration evaluates to the digest d1 today."""
    monkeypatch.setattr(plan, "RESULTS", tmp_path)
    monkeypatch.setattr(plan, "WANTED", tmp_path / "wanted.list")
    monkeypatch.setattr(plan, "_digests", lambda experiments: ["d1"] * len(experiments))
    (tmp_path / "wanted.list").write_text("{}")
    (tmp_path / "claims.json").write_text(json.dumps({"claims": [CLAIM], "records": [{}]}))
    return tmp_path


def write(results: Path, *rows: dict) -> None:
    table = {
        "data": "SICK",
        "vectors": "",
        "metrics": {},
        "rows": rows,
    }
    (results / "sick.json").write_text(json.dumps(table))


def step():
    return next_step(CLAIM, plan.wanted_rows())


def runs_of(step) -> list[tuple[str, int]]:
    return [(run.row.configuration, run.seed) for run in step.runs]


def test_the_first_step_of_a_claim_are_three_seeds_of_both_rows(results):
    write(results, row("A", "sick/rcrn", {1: 0.8}), row("B", "sick/bilstm", {1: 0.7, 5: 0.7}))
    found = step()
    assert runs_of(found) == [
        ("sick/rcrn", 2),
        ("sick/bilstm", 2),
        ("sick/rcrn", 5),
    ]
    narrow = 2 * 1.96 * math.sqrt(0.7**2 + 0.7**2) / math.sqrt(3)
    assert found.value == pytest.approx((10.0 - narrow) / 12)


def test_further_steps_are_one_seed_and_narrow_the_interval_by_the_spread_of_the_rows(results):
    figures = {1: 0.80, 2: 0.82, 3: 0.84}
    table = {"claims": [CLAIM], "records": [{"seeds": "1, 2, 3", "holds": "open"}]}
    (results / "claims.json").write_text(json.dumps(table))
    write(
        results,
        row("A", "sick/rcrn", figures, minutes=6.0),
        row("B", "sick/bilstm", dict.fromkeys(figures, 0.8)),
    )
    found = step()
    assert runs_of(found) == [("sick/rcrn", 4), ("sick/bilstm", 4)]
    # The standard deviations are 2 points and 0.
    assert found.value == pytest.approx(2 * 1.96 * 2 * (3**-0.5 - 4**-0.5) / 10)

    table["records"][0]["needed"] = "8"
    (results / "claims.json").write_text(json.dumps(table))
    assert step().value == pytest.approx(plan.UNDECIDED / 10)
    for holds in ("yes", "no"):
        table["records"][0]["holds"] = holds
        (results / "claims.json").write_text(json.dumps(table))
        assert step() is None


def test_a_claim_that_three_seeds_leave_open_gets_five_even_if_four_decide_it(results):
    figures = dict.fromkeys(range(1, 5), 0.8)
    table = {"claims": [CLAIM], "records": [{"seeds": "1, 2, 3, 4", "holds": "yes"}]}
    (results / "claims.json").write_text(json.dumps(table))
    write(results, row("A", "sick/rcrn", figures), row("B", "sick/bilstm", figures))
    assert runs_of(step()) == [("sick/rcrn", 5), ("sick/bilstm", 5)]


def test_five_seeds_are_enough_but_seeds_with_other_settings_do_not_count(results):
    figures = dict.fromkeys(range(1, 6), 0.8)
    write(results, row("A", "sick/rcrn", figures), row("B", "sick/bilstm", figures))
    assert step() is None
    write(results, row("A", "sick/rcrn", figures, digest="d0"), row("B", "sick/bilstm", figures))
    assert runs_of(step()) == [("sick/rcrn", seed) for seed in (1, 2, 3)]
    assert [run.seed for run in plan.outdated_runs()] == [1, 2, 3, 4, 5]


def test_rows_that_are_not_recorded_are_described(results):
    described = {
        "model": "A",
        "configuration": "sick/rcrn",
        "minutes": 9,
    }
    group = {"overrides": "(import 'CONFIGURATION')", "rows": [described]}
    plan.WANTED.write_text(json.dumps({"sick.json": group}))
    write(results, row("B", "sick/bilstm", {1: 0.7, 2: 0.7, 3: 0.7}))
    assert runs_of(step()) == [("sick/rcrn", seed) for seed in (1, 2, 3)]
    assert step().runs[0].row.overrides == "(import 'sick/rcrn')"
    plan.WANTED.write_text("{}")
    assert step() is None


@pytest.mark.parametrize(
    ("first", "second", "number", "expected"),
    [
        ((), (), 3, [1, 2, 3]),
        ((1, 13370), (2, 13370), 3, [1, 2, 13370]),
        ((4, 5), (), 3, [1, 4, 5]),
        ((1, 2, 3), (1, 2, 3, 7), 4, [1, 2, 3, 7]),
    ],
)
def test_seeds_of_both_rows_come_before_those_of_one_and_new_ones(first, second, number, expected):
    figures = [{seed: {} for seed in seeds} for seeds in (first, second)]
    assert choose_seeds(figures, number) == expected


def test_fewer_than_three_seeds_decide_nothing():
    assert interval_width([0.1, 0.1], 2) == plan.UNDECIDED
    assert interval_width([3.0, 4.0], 4) == pytest.approx(2 * 1.96 * 5 / 2)


@pytest.fixture
def wanted(results, monkeypatch) -> Wanted:
    """A row in a separate repository, whose training writes metrics.json."""
    for module in (plan, queue):
        monkeypatch.setattr(module, "REPOSITORY", results)
    monkeypatch.setattr(plan, "CONFIGURATIONS", results / "training_config")
    monkeypatch.setattr(plan, "parsed", lambda overrides: ({}, overrides))
    monkeypatch.setattr(queue, "revision", lambda: "bbbbbbb")
    monkeypatch.setattr(run_seeds, "digest_of", lambda config, overrides: "d1")
    monkeypatch.setattr("scripts.results.rows.CONFIGURATIONS", results / "training_config")
    monkeypatch.setattr(run_seeds, "has_same_mathematics", lambda commit: True)
    return Wanted("sick.json", "A", "sick/rcrn", "{}", "short", 4.0, "d1")


def test_an_interrupted_run_comes_first_and_a_failed_one_not_again(results, wanted):
    write(results, row("A", "sick/rcrn", {1: 0.8}), row("B", "sick/bilstm", {1: 0.7}))
    output = results / "out"
    first, *others = plan.planned_runs()
    assert queue.next_run(output, set()) == first
    started = others[2].training(output).started(others[2].seed)
    started.parent.mkdir(parents=True)
    started.touch()
    assert queue.next_run(output, set()) == others[2]
    assert queue.next_run(output, {others[2]}) == first
    assert queue.next_run(output, {first, *others}) is None


DESCRIBED = {
    "data": "SICK",
    "vectors": "random",
    "metrics": {"accuracy": "accuracy, %"},
}
"""How a table of results is described, which no run has filled yet."""


@pytest.fixture
def repository(results, monkeypatch):
    """Make the folder a repository of git, with a table of results without rows."""
    subprocess.run(["git", "init", "--quiet", str(results)], check=True)
    for name, value in (("name", "A"), ("email", "a@example.org")):
        command = ["git", "config", f"user.{name}", value]
        subprocess.run(command, cwd=results, check=True)
    monkeypatch.setattr(plan, "RESULTS", results / "docs" / "results")
    plan.RESULTS.mkdir(parents=True)
    table = {**DESCRIBED, "overrides": "", "rows": []}
    plan.WANTED.write_text(json.dumps({"sick.json": table}))
    monkeypatch.chdir(results)
    return results


class Training:
    """Writes the files of a training, and records its seed."""

    def __init__(self):
        self.seeds = []

    def __call__(self, training, seed, recover=False, keep_open=()):
        assert recover
        assert len(keep_open) == 1
        self.seeds.append(seed)
        folder = training.folder(seed)
        folder.mkdir(parents=True)
        origin = {
            "revision": "bbbbbbb",
            "processor": "B",
            "digest": "d1",
        }
        training.started(seed).write_text(json.dumps(origin))
        metrics = {
            "best_epoch": 0,
            "epoch": 0,
            "training_duration": "0:01:00.000000",
            "test_accuracy": 0.5,
        }
        (folder / "metrics.json").write_text(json.dumps(metrics))


@pytest.mark.parametrize("is_trained", [False, True])
def test_a_finished_run_is_recorded_named_and_committed(
    repository, wanted, monkeypatch, is_trained
):
    """`is_trained`: the queue was killed after the training had ended."""
    train = Training()
    monkeypatch.setattr(queue, "train", train)
    run = Run(wanted, 2)
    output = repository / "out"
    if is_trained:
        train(run.training(output), 2, recover=True, keep_open=[0])
    with queue.lock_output(output) as lock:
        queue.train_and_record(run, output, lock)
    assert train.seeds == [2]
    assert not run.training(output).started(2).exists()
    table = json.loads((plan.RESULTS / "sick.json").read_text())
    assert table.items() >= DESCRIBED.items()
    (recorded,) = table["rows"]
    assert recorded["model"] == "A"
    assert recorded["differs"] == "short"
    assert recorded["seeds"] == [2]
    assert recorded["revisions"] == ["bbbbbbb"]
    assert recorded["digests"] == ["d1"]
    log = ["git", "log", "--format=%s", "--name-only"]
    printed = subprocess.run(log, cwd=repository, capture_output=True, text=True, check=True).stdout
    assert printed.split("\n\n") == [
        "Record seed 2 of sick/rcrn in sick.json",
        "docs/results/sick.json\n",
    ]


def test_a_training_that_a_killed_queue_has_left_is_waited_for(tmp_path):
    """The training inherited the lock."""
    lock = queue.lock_output(tmp_path)
    wait = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    left = subprocess.Popen(wait, stdin=subprocess.PIPE, pass_fds=[lock.fileno()])
    lock.close()  # as when the queue's process ends
    waiting = threading.Thread(target=lambda: queue.lock_output(tmp_path).close())
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    left.communicate(b"")
    waiting.join(60)
    assert not waiting.is_alive()
