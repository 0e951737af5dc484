"""Seeds are trained once for each experiment, and recorded with their origin."""

import json
import re
import shutil
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.experiments import CONFIGURATIONS
from scripts.results import rows as result_rows
from scripts.results import run_seeds
from scripts.results.tables import read_items, write_items

CONFIG = CONFIGURATIONS / "sick" / "subilstm.jsonnet"


def begin(output: Path, seed: int, revision: object = "1234567", **origin: str) -> None:
    """Write the origin of a run."""
    values = {
        "revision": revision,
        "processor": "EPYC",
        "digest": "d1",
        **origin,
    }
    (output / f"{seed}.started").write_text(json.dumps(values))


@pytest.fixture
def output(tmp_path: Path, monkeypatch) -> Path:
    """The folder of a series whose seeds 1 and 2 have finished."""
    monkeypatch.setattr(run_seeds, "revision", lambda: "1234567")
    monkeypatch.setattr(run_seeds, "digest_of", lambda config, overrides: "d1")
    monkeypatch.setattr(run_seeds, "has_same_mathematics", lambda commit: commit != "ccccccc")
    metrics = {
        "best_epoch": 3,
        "epoch": 11,
        "training_duration": "0:02:30.000000",
    }
    metrics |= {"best_validation_accuracy": 0.9, "training_accuracy": 1.0}
    for seed, accuracy in ((1, 0.80), (2, 0.84)):
        folder = tmp_path / "out" / str(seed)
        folder.mkdir(parents=True)
        (folder / "metrics.json").write_text(json.dumps({"test_accuracy": accuracy, **metrics}))
        begin(tmp_path / "out", seed)
    return tmp_path / "out"


@pytest.fixture
def run(output, monkeypatch):
    """Runs the script for some seeds of the configuration; `record` is the file of results."""

    def main(*seeds: int, record: object = None, **options: object) -> None:
        words = ["--seeds", *seeds, *(() if record is None else ("--record", record))]
        words += [word for name, value in options.items() for word in (f"--{name}", value)]
        monkeypatch.setattr("sys.argv", ["run_seeds.py", *map(str, [CONFIG, output, *words])])
        run_seeds.main()

    return main


def rows(path: Path) -> list[dict]:
    return json.loads(path.read_text())["rows"]


def test_finished_seeds_are_not_trained_again(output, run, monkeypatch, capsys):
    trained = []

    def train(training, seed, recover):
        trained.append((training.config, training.overrides, seed, training.threads, recover))
        folder = training.folder(seed)
        folder.mkdir()
        text = (output / "1" / "metrics.json").read_text().replace("0.8,", "0.82,")
        (folder / "metrics.json").write_text(text)

    monkeypatch.setattr(run_seeds, "train", train)
    run(1, 2, 3, overrides="{'a.b': 1 + 1}")
    assert trained == [(CONFIG, {"a.b": 2}, 3, None, False)]
    printed = capsys.readouterr().out
    assert "test_accuracy: 0.8200 +- 0.0200  (0.8000, 0.8400, 0.8200)" in printed
    assert "training minutes: 2.5, 2.5, 2.5" in printed


@pytest.mark.parametrize(("cores", "jobs", "threads"), [(2, 2, 1), (2, 3, 1), (9, 2, 4)])
def test_several_seeds_at_a_time_share_the_cores(
    output, run, monkeypatch, tmp_path, cores, jobs, threads
):
    environments = []
    together = threading.Barrier(2, timeout=60)

    def run_command(command, env, **options):
        together.wait()
        assert options["pass_fds"] == ()
        environments.append(env["OMP_NUM_THREADS"])
        shutil.copytree(output / "1", command[command.index("--serialization-dir") + 1])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(run_seeds.os, "cpu_count", lambda: cores)
    monkeypatch.setattr(run_seeds.subprocess, "run", run_command)
    run(1, 3, 4, jobs=jobs, record=tmp_path / "sick.json")
    assert environments == [str(threads)] * 2
    (row,) = rows(tmp_path / "sick.json")
    assert row["seeds"] == [1, 3, 4]
    assert row["machine"]["threads"] == threads


def test_recorded_figures_replace_those_of_the_same_row(output, run, tmp_path):
    path = tmp_path / "sick.json"
    other = {"model": "majority", "metrics": {"accuracy": 0.5}}
    row = {
        "model": "SuBiLSTM",
        "configuration": "sick/subilstm",
        "differs": "random vectors",
    }
    table = {
        "data": "SICK",
        "vectors": "random",
        "metrics": {"accuracy": "accuracy, %"},
    }
    path.write_text(json.dumps({**table, "rows": [other, row]}))
    run(1, 2, record=path)
    recorded = json.loads(path.read_text())
    assert {**recorded, "rows": None} == {**table, "rows": None}
    unchanged, measured = recorded["rows"]
    assert unchanged == other
    command = f"python -m scripts.results.run_seeds {CONFIG} {output} --record {path} --seeds 1 2"
    expected = {
        "model": "SuBiLSTM",
        "differs": "random vectors",
        "seeds": [1, 2],
        "metrics": {"accuracy": [0.8, 0.84], "validation_accuracy": [0.9, 0.9]},
        "epochs": ["4 of 12", "4 of 12"],
        "minutes": [2.5, 2.5],
        "command": command,
    }
    assert measured.items() >= expected.items()
    assert measured["machine"]["cores"] >= 1

    run(1, record=path, overrides="{a: 1}")
    assert [len(row["metrics"]["accuracy"]) for row in rows(path)[1:]] == [2, 1]


@pytest.mark.parametrize("is_output_kept", [True, False])
def test_recorded_seeds_are_neither_trained_nor_recorded_again(
    output, run, tmp_path, monkeypatch, is_output_kept
):
    path = tmp_path / "sick.json"
    run(2, record=path)
    recorded = path.read_text()
    begin(output, 1, "abcdefg", processor="Xeon")
    if is_output_kept:
        run(2, record=path)
        assert path.read_text() == recorded
    else:
        (output / "2").rename(tmp_path / "elsewhere")

    def train(training, seed, recover):
        raise AssertionError(f"seed {seed} is trained again")

    monkeypatch.setattr(run_seeds, "train", train)
    run(1, 2, record=path, jobs=2)
    (row,) = rows(path)
    assert row["seeds"] == [1, 2]
    assert row["metrics"] == {"accuracy": [0.8, 0.84], "validation_accuracy": [0.9, 0.9]}
    assert row["minutes"] == [2.5, 2.5]
    assert row["revisions"] == ["abcdefg", "1234567"]
    assert row["processors"] == ["Xeon", "EPYC"]
    assert row["digests"] == ["d1", "d1"]
    assert row["command"].endswith(f"{output} --jobs 2 --record {path} --seeds 1 2")


def test_seeds_with_other_settings_are_replaced(output, run, tmp_path, monkeypatch):
    """Seed 1 had other settings, seed 2 unknown ones; seed 3 is trained with today's."""
    path = tmp_path / "sick.json"
    run(1, 2, record=path)
    recorded = json.loads(path.read_text())
    recorded["rows"][0]["digests"] = ["d0", None]
    recorded["rows"][0]["outdated"] = {"1": "another optimizer", "2": "not recorded"}
    path.write_text(json.dumps(recorded))
    write_items(
        path,
        [
            {"configuration": "sick/subilstm", "overrides": "", "seed": seed, "scores": "1"}
            for seed in (1, 2)
        ],
    )
    (output / "2").rename(output / "3")
    begin(output, 3)
    run(3, record=path)
    (row,) = rows(path)
    assert row["seeds"] == [2, 3]
    assert row["digests"] == [None, "d1"]
    assert row["outdated"] == {"2": "not recorded"}
    assert [line["seed"] for line in read_items(path)] == [2]


@pytest.fixture
def training(tmp_path, monkeypatch) -> run_seeds.Training:
    """A training at the commit bbbbbbb, whose `allennlp train` ends at once."""
    monkeypatch.setattr(run_seeds, "digest_of", lambda config, overrides: "d1")
    monkeypatch.setattr(run_seeds, "has_same_mathematics", lambda commit: commit == "aaaaaaa")
    (tmp_path / "1").mkdir()
    return run_seeds.Training(CONFIG, {}, tmp_path, commit="bbbbbbb")


@pytest.mark.parametrize(
    ("started", "has_checkpoint", "option", "origin"),
    [
        ({}, True, "--recover", ("aaaaaaa, bbbbbbb", "EPYC and Xeon")),
        ({"processor": "Xeon"}, True, "--recover", ("aaaaaaa, bbbbbbb", "Xeon")),
        ({}, False, "--force", ("bbbbbbb", "Xeon")),
        ({"digest": "d0"}, True, "--force", ("bbbbbbb", "Xeon")),
        ({"revision": "ccccccc"}, True, "--force", ("bbbbbbb", "Xeon")),
        ({"revision": None}, True, "--force", ("bbbbbbb", "Xeon")),
        ("", True, "--force", ("bbbbbbb", "Xeon")),
        (None, True, "--force", ("bbbbbbb", "Xeon")),
    ],
)
def test_an_interrupted_run_continues_if_it_is_the_same_experiment(
    training, monkeypatch, started, has_checkpoint, option, origin
):
    """`started` is the content of its origin: "" is half-written, `None` is missing."""
    monkeypatch.setattr(run_seeds, "processor", lambda: "Xeon")
    if isinstance(started, dict):
        origin_of_start = {"revision": "aaaaaaa", **started}
        begin(training.output, 1, **origin_of_start)
    elif started is not None:
        training.started(1).write_text(started)
    if has_checkpoint:
        (training.folder(1) / "training_state_e0_b0.th").touch()
    commands = []

    def run_command(command, **options):
        commands.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(run_seeds.subprocess, "run", run_command)
    run_seeds.train(training, 1, recover=True)
    assert option in commands[0]
    assert training.origin(1) == (*origin, "d1")


@pytest.mark.parametrize(
    ("origin", "message"),
    [
        (None, "2 was trained at an unknown commit, without --record; remove it"),
        ({"revision": None}, "2 was trained at an unknown commit, without --record"),
        ({"digest": "d0"}, "2 was trained at 1234567, with other settings or another"),
        ({"revision": "ccccccc"}, "2 was trained at ccccccc, with other settings or another"),
    ],
)
def test_another_experiment_is_refused_before_others_are_trained(
    output, run, tmp_path, monkeypatch, origin, message
):
    trained = []
    monkeypatch.setattr(run_seeds, "train", lambda *arguments: trained.append(arguments))
    (output / "2.started").unlink()
    if origin is not None:
        begin(output, 2, **origin)
    with pytest.raises(SystemExit, match=message):
        run(1, 2, 3, record=tmp_path / "sick.json")
    assert trained == []


@pytest.mark.parametrize(
    ("is_tested", "scores", "expected"),
    [
        (True, [[1.0, 0.0], [0.25, 1.0]], ["10", [0.25, 1.0]]),
        (False, [[0.0, 1.0], [1.0, 1.0]], ["01", "11"]),
        (True, [None, None], []),  # the model has no scores of items
    ],
)
def test_scores_of_the_items_are_recorded_once_for_each_seed(
    output, run, tmp_path, monkeypatch, is_tested, scores, expected
):
    data = "test" if is_tested else "validation"
    for seed in (1, 2):
        (output / str(seed) / "model.tar.gz").touch()
        if not is_tested:
            metrics = json.loads((output / str(seed) / "metrics.json").read_text())
            del metrics["test_accuracy"]
            (output / str(seed) / "metrics.json").write_text(json.dumps(metrics))
    asked = []

    def load_archive(path):
        return SimpleNamespace(config={f"{data}_data_path": int(path.parent.name)})

    def item_scores(archive, seed):
        asked.append(seed)
        return scores[seed - 1]

    monkeypatch.setattr(result_rows, "load_archive", load_archive)
    monkeypatch.setattr(result_rows, "item_scores", item_scores)
    for _ in range(2):
        run(1, 2, record=tmp_path / "sick.json")
    assert rows(tmp_path / "sick.json")[0]["seeds"] == [1, 2]
    key = {
        "configuration": "sick/subilstm",
        "overrides": "",
        "data": data,
    }
    made = [{**key, "seed": seed, "scores": scores} for seed, scores in zip((1, 2), expected)]
    assert read_items(tmp_path / "sick.json") == made
    assert not expected or asked == [1, 2]


def test_figures_come_from_a_commit_of_a_branch(tmp_path, monkeypatch):
    monkeypatch.setattr(run_seeds, "REPOSITORY", tmp_path)
    monkeypatch.setattr(run_seeds, "has_compiled_steps", lambda: True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "a.jsonnet").write_text("{}")
    run_seeds.git("init", "--quiet")
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")

    def commit(message):
        run_seeds.git("add", ".")
        run_seeds.git(*author, "commit", "--quiet", "--message", message)
        return run_seeds.git("rev-parse", "--short", "HEAD").strip()

    first = commit("A")
    (tmp_path / "docs/results.json").write_text("{}")
    assert run_seeds.revision() == first
    commit("Record a row: the figures of the next one come from the same code")
    assert run_seeds.revision() == first
    with monkeypatch.context() as context:
        context.setattr(run_seeds, "has_compiled_steps", lambda: False)
        with pytest.raises(SystemExit, match="build them with `make install`"):
            run_seeds.revision()
    for file, text in (("new.libsonnet", "{}"), ("a.jsonnet", "[]")):
        (tmp_path / file).write_text(text)
        with pytest.raises(SystemExit, match=file):
            run_seeds.revision()
        run_seeds.git("clean", "-dfq")
        run_seeds.git("checkout", "--quiet", ".")
    run_seeds.git("checkout", "--quiet", "--detach")
    (tmp_path / "a.jsonnet").write_text("[]")
    commit("B, which no branch has")
    with pytest.raises(SystemExit, match="no branch holds this commit"):
        run_seeds.revision()


def test_each_recorded_revision_is_a_commit():
    """A source archive has no commits."""
    if not (run_seeds.REPOSITORY / ".git").exists():
        pytest.skip("there is no git repository")
    if run_seeds.git("rev-parse", "--is-shallow-repository").strip() == "true":
        pytest.skip("the clone is shallow")
    texts = [path.read_text() for path in run_seeds.REPOSITORY.glob("*/results/*.json")]
    single = {name for text in texts for name in re.findall(r'"(?:revision|commit)": "(.*)"', text)}
    lists = [names for text in texts for names in re.findall(r'"revisions": \[([^]]*)\]', text)]
    names = [*single, *lists]
    revisions = {revision for name in names for revision in re.findall(r"\b[0-9a-f]{7,}\b", name)}
    assert len(revisions) > 20
    known = run_seeds.git("rev-list", "--no-walk", "--ignore-missing", *revisions).split()
    for revision in revisions:
        assert any(commit.startswith(revision) for commit in known), revision
