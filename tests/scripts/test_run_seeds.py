import json
import shlex
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts import run_seeds

CONFIG = run_seeds.CONFIGURATIONS / "sick" / "subilstm.jsonnet"


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """The folder of a series of which seeds 1 and 2 have finished."""
    for seed, accuracy in ((1, 0.80), (2, 0.84)):
        folder = tmp_path / "out" / str(seed)
        folder.mkdir(parents=True)
        metrics = {
            "best_epoch": 3,
            "epoch": 11,
            "training_duration": "0:02:30.000000",
            "best_validation_accuracy": 0.9,
            "test_accuracy": accuracy,
            "training_accuracy": 1.0,
        }
        (folder / "metrics.json").write_text(json.dumps(metrics))
    return tmp_path / "out"


def run(monkeypatch, *arguments: object) -> None:
    monkeypatch.setattr("sys.argv", ["run_seeds.py", *map(str, arguments)])
    run_seeds.main()


def test_finished_seeds_are_not_trained_again(output, monkeypatch, capsys):
    trained = []

    def train(config, folder, overrides, seed):
        trained.append((config, overrides, seed))
        folder.mkdir()
        text = (output / "1" / "metrics.json").read_text().replace("0.8,", "0.82,")
        (folder / "metrics.json").write_text(text)

    monkeypatch.setattr(run_seeds, "train", train)
    run(monkeypatch, CONFIG, output, "--overrides", "{'a.b': 1 + 1}", "--seeds", 1, 2, 3)
    assert trained == [(CONFIG, {"a.b": 2}, 3)]
    printed = capsys.readouterr().out
    assert "test_accuracy: 0.8200 +- 0.0200  (0.8000, 0.8400, 0.8200)" in printed
    assert "training minutes: 2.5, 2.5, 2.5" in printed


@pytest.mark.parametrize(("cores", "jobs", "threads"), [(2, 2, 1), (2, 3, 1), (9, 2, 4)])
def test_several_seeds_at_a_time_share_the_cores(
    output, monkeypatch, tmp_path, cores, jobs, threads
):
    environments = []
    together = threading.Barrier(2, timeout=60)

    def run_command(command, env, **options):
        together.wait()
        environments.append(env["OMP_NUM_THREADS"])
        shutil.copytree(output / "1", command[command.index("--serialization-dir") + 1])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(run_seeds.os, "cpu_count", lambda: cores)
    monkeypatch.setattr(run_seeds, "revision", lambda: "")
    monkeypatch.setattr(run_seeds.subprocess, "run", run_command)
    record = ["--record", tmp_path / "sick.json"]
    run(monkeypatch, CONFIG, output, "--seeds", 1, 3, 4, "--jobs", jobs, *record)
    assert environments == [str(threads)] * 2
    (row,) = json.loads((tmp_path / "sick.json").read_text())["rows"]
    assert row["seeds"] == [1, 3, 4]
    assert row["machine"]["threads"] == threads


def test_after_a_failure_no_other_seed_is_begun(output, monkeypatch):
    begun = []

    def train(config, folder, overrides, seed, threads):
        begun.append(seed)
        time.sleep(0 if seed == 5 else 0.5)
        sys.exit(f"seed {seed} failed")

    monkeypatch.setattr(run_seeds, "train", train)
    seeds = range(5, 15)
    with pytest.raises(SystemExit, match="seed 5 failed"):
        run(monkeypatch, CONFIG, output, "--seeds", *seeds, "--jobs", 2)
    assert len(begun) < len(seeds)


def test_overrides_may_be_a_file(output, tmp_path, monkeypatch):
    received = []
    monkeypatch.setattr(
        run_seeds, "train", lambda *arguments: received.append(arguments) or exit("trained")
    )
    overrides = tmp_path / "local.json"
    overrides.write_text('{"train_data_path": "here"}')
    with pytest.raises(SystemExit, match="trained"):
        run(monkeypatch, CONFIG, output, "--overrides", overrides, "--seeds", 4)
    assert received[0][2] == {"train_data_path": "here"}


def test_recorded_figures_replace_those_of_the_same_row(output, tmp_path, monkeypatch):
    path = tmp_path / "sick.json"
    other = {"model": "majority", "metrics": {"accuracy": 0.5}}
    row = {"model": "SuBiLSTM", "configuration": "sick/subilstm", "differs": "random vectors"}
    table = {"data": "SICK", "vectors": "random", "metrics": {"accuracy": "accuracy, %"}}
    path.write_text(json.dumps({**table, "rows": [other, row]}))
    run(monkeypatch, CONFIG, output, "--seeds", 1, 2, "--record", path)
    recorded = json.loads(path.read_text())
    assert recorded["rows"][0] == other
    assert {**recorded, "rows": None} == {**table, "rows": None}
    measured = recorded["rows"][1]
    assert measured["model"] == "SuBiLSTM"
    assert measured["differs"] == "random vectors"
    assert measured["metrics"] == {"accuracy": [0.8, 0.84], "validation_accuracy": [0.9, 0.9]}
    assert measured["seeds"] == [1, 2]
    assert measured["epochs"] == ["4 of 12", "4 of 12"]
    assert measured["minutes"] == [2.5, 2.5]
    assert measured["machine"]["cores"] >= 1
    command = f"python scripts/run_seeds.py {CONFIG} {output} --record {path} --seeds 1 2"
    assert measured["command"] == command

    run(monkeypatch, CONFIG, output, "--overrides", "{a: 1}", "--seeds", 1, "--record", path)
    recorded = json.loads(path.read_text())
    assert [len(row["metrics"]["accuracy"]) for row in recorded["rows"][1:]] == [2, 1]


def test_a_row_names_the_processors_of_all_its_seeds(output, tmp_path, monkeypatch):
    path = tmp_path / "sick.json"
    processors = iter(["EPYC", "EPYC", "Xeon"])
    monkeypatch.setattr(run_seeds, "processor", lambda: next(processors))
    shutil.copytree(output / "1", output / "3")
    run(monkeypatch, CONFIG, output, "--seeds", 1, 2, "--record", path)
    (row,) = json.loads(path.read_text())["rows"]
    assert row["machine"]["processor"] == "EPYC"
    run(monkeypatch, CONFIG, output, "--seeds", 3, "--record", path)
    (row,) = json.loads(path.read_text())["rows"]
    assert row["machine"]["processor"] == "EPYC and Xeon"


@pytest.mark.parametrize("is_output_kept", [True, False])
def test_recorded_seeds_are_neither_trained_nor_recorded_again(
    output, tmp_path, monkeypatch, is_output_kept
):
    path = tmp_path / "sick.json"
    monkeypatch.setattr(run_seeds, "revision", lambda: "1234567")
    run(monkeypatch, CONFIG, output, "--seeds", 2, "--record", path)
    recorded = path.read_text()
    monkeypatch.setattr(run_seeds, "revision", lambda: "abcdefg")
    if is_output_kept:
        run(monkeypatch, CONFIG, output, "--seeds", 2, "--record", path)
        assert path.read_text() == recorded
    else:
        (output / "2").rename(tmp_path / "elsewhere")

    def train(config, folder, overrides, seed):
        raise AssertionError(f"seed {seed} is trained again")

    monkeypatch.setattr(run_seeds, "train", train)
    arguments = ["--overrides", "", "--jobs", 2, "--record", path]
    run(monkeypatch, CONFIG, output, "--seeds", 1, *arguments)
    (row,) = json.loads(path.read_text())["rows"]
    assert row["seeds"] == [1, 2]
    assert row["metrics"] == {"accuracy": [0.8, 0.84], "validation_accuracy": [0.9, 0.9]}
    assert row["minutes"] == [2.5, 2.5]
    assert row["revision"] == "1234567, abcdefg"
    assert row["command"].endswith(f"{output} --jobs 2 --record {path} --seeds 1 2")


def test_a_seed_is_recorded_before_the_next_one_is_trained(output, tmp_path, monkeypatch):
    path = tmp_path / "sick.json"
    monkeypatch.setattr(run_seeds, "train", lambda *arguments: exit("trained"))
    with pytest.raises(SystemExit, match="trained"):
        run(monkeypatch, CONFIG, output, "--seeds", 1, 5, "--record", path)
    (row,) = json.loads(path.read_text())["rows"]
    assert row["seeds"] == [1]


def test_scores_of_the_items_replace_those_of_the_same_seed(output, tmp_path, monkeypatch):
    for seed in (1, 2):
        (output / str(seed) / "model.tar.gz").touch()
    printed = {"1": "[1.0, 0.0]", "2": "[0.25, 1.0]"}

    def scores(command, **arguments):
        assert command[-2:] == ["--data", "test"]
        return SimpleNamespace(stdout=printed[Path(command[2]).parent.name])

    monkeypatch.setattr(run_seeds.subprocess, "run", scores)
    monkeypatch.setattr(run_seeds, "revision", lambda: "1234567")
    for _ in range(2):
        run(monkeypatch, CONFIG, output, "--seeds", 1, 2, "--record", tmp_path / "sick.json")
    lines = (tmp_path / "items" / "sick.jsonl").read_text().splitlines()
    key = {"configuration": "sick/subilstm", "overrides": "", "data": "test"}
    assert list(map(json.loads, lines)) == [
        {**key, "seed": 1, "scores": "10"},
        {**key, "seed": 2, "scores": [0.25, 1.0]},
    ]


def test_without_a_test_set_the_scores_are_of_the_validation_data(output, tmp_path, monkeypatch):
    metrics = json.loads((output / "1" / "metrics.json").read_text())
    del metrics["test_accuracy"]
    (output / "1" / "metrics.json").write_text(json.dumps(metrics))
    archive = output / "1" / "model.tar.gz"
    archive.touch()

    def scores(command, **arguments):
        assert command[2:] == [str(archive), "--data", "validation"]
        return SimpleNamespace(stdout="[0.0, 1.0]")

    monkeypatch.setattr(run_seeds.subprocess, "run", scores)
    monkeypatch.setattr(run_seeds, "revision", lambda: "1234567")
    run(monkeypatch, CONFIG, output, "--seeds", 1, "--record", tmp_path / "ling_in_loop.json")
    (line,) = (tmp_path / "items" / "ling_in_loop.jsonl").read_text().splitlines()
    key = {"configuration": "sick/subilstm", "overrides": "", "seed": 1}
    assert json.loads(line) == {**key, "data": "validation", "scores": "01"}


def test_models_without_scores_of_items_are_recorded_too(output, tmp_path, monkeypatch):
    """Such as those of scores: a correlation is not a mean over pairs."""
    (output / "1" / "model.tar.gz").touch()
    printed = SimpleNamespace(stdout="null\n")
    monkeypatch.setattr(run_seeds.subprocess, "run", lambda command, **arguments: printed)
    monkeypatch.setattr(run_seeds, "revision", lambda: "1234567")
    run(monkeypatch, CONFIG, output, "--seeds", 1, "--record", tmp_path / "stsb.json")
    assert json.loads((tmp_path / "stsb.json").read_text())["rows"][0]["seeds"] == [1]
    assert not (tmp_path / "items").exists()


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("out/sick", "out/sick"),
        ("(import 'a.json') + { b: 'c' }", "\"(import 'a.json') + { b: 'c' }\""),
        ('{ a: "it\'s" }', None),
        ("'$HOME' `ls` \\ !", None),
    ],
)
def test_a_shell_reads_the_recorded_arguments(argument, expected):
    text = run_seeds.quoted(argument)
    assert shlex.split(text) == [argument]
    assert expected is None or text == expected
    printed = subprocess.run(["bash", "-c", f"printf %s {text}"], capture_output=True, text=True)
    assert printed.stdout == argument


def test_a_revision_is_dirty_with_changed_and_with_new_files(tmp_path, monkeypatch):
    monkeypatch.setattr(run_seeds, "REPOSITORY", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "a.jsonnet").write_text("{}")
    run_seeds.git("init", "--quiet")
    run_seeds.git("add", ".")
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    run_seeds.git(*author, "commit", "--quiet", "--message", "A")
    commit = run_seeds.git("describe", "--always").stdout.strip()
    assert commit
    (tmp_path / "docs" / "results.json").write_text("{}")
    assert run_seeds.revision() == commit
    (tmp_path / "new.libsonnet").write_text("{}")
    assert run_seeds.revision() == f"{commit}-dirty"
    (tmp_path / "new.libsonnet").unlink()
    (tmp_path / "a.jsonnet").write_text("[]")
    assert run_seeds.revision() == f"{commit}-dirty"
