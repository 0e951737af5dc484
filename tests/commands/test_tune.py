"""`allennlp tune` trains trials, passes its options on and reports the best trial."""

import json
import sys

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch import tuning
from tests.conftest import SMALL_QUICK_START

pytest.importorskip("optuna")

CONFIG = "training_config/quick_start.jsonnet"
RATE = {"trainer.optimizer.lr": {"type": "categorical", "choices": [0.004]}}


@pytest.fixture
def space(tmp_path):
    file = tmp_path / "space.json"
    file.write_text(json.dumps(RATE))
    return file


@pytest.mark.slow  # tests/tuning/test_training.py has the command, and a stand-in for the process
def test_a_trial_is_a_training(allennlp, space, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    overrides = {**SMALL_QUICK_START, "test_data_path": "none"}
    study = tmp_path / "study"
    allennlp("tune", CONFIG, space, "-s", study, "--overrides", json.dumps(overrides))
    metrics = json.loads((study / "trials" / "0" / "metrics.json").read_text())
    config = json.loads((study / "trials" / "0" / "config.json").read_text())
    assert config["trainer"]["optimizer"] == {"type": "adam", "lr": 0.004}
    assert config["model"]["classifier"]["hidden_size"] == 5
    report = json.loads((study / "study.json").read_text())
    assert report["best"]["value"] == metrics["best_validation_accuracy"]
    assert report["configuration"] == CONFIG
    assert report["command"].startswith(f"allennlp tune {CONFIG} {space} -s {study} ")
    figure = f"{report['best']['value']:.4f} after epoch 1 of 1"
    assert capsys.readouterr().out == (
        f"trial 0: trainer.optimizer.lr = 0.004: complete, {figure}\n"
        f"best: trial 0: trainer.optimizer.lr = 0.004: complete, {figure}\n"
        f"train it with: allennlp train {study / 'best_config.json'} -s FOLDER\n"
    )


class StandIn:
    """Records its construction and its calls; finds a failed and a complete trial."""

    calls = []

    def __init__(self, *arguments):
        self.calls.append(arguments)

    def run(self, num_trials, on_trial):
        self.calls.append(num_trials)
        if num_trials == 13:
            raise KeyboardInterrupt
        trial = {
            "number": 4,
            "values": {"a": 1, "b": "c"},
            "state": "complete",
            "value": 0.25,
        }
        on_trial({**trial, "state": "failed", "value": None, "reason": "no words"})
        return {"best": {**trial, "best_epoch": 2, "epochs": 3}}


@pytest.fixture
def calls(monkeypatch):
    monkeypatch.setattr(tuning, "Tuner", StandIn)
    monkeypatch.setattr(StandIn, "calls", [])
    return StandIn.calls


def test_every_option(allennlp, calls, space, capsys):
    allennlp(
        "tune", CONFIG, space, "-s", "out", "--n-trials", 7, "--n-jobs", 2, "--metric=-loss",
        "--sampler", "tpe", "--seed", 3, "--prune", 4, "-o", "{'trainer.num_epochs': 2}",
        "--include-package", "allennlp_sentmatch",
    )  # fmt: skip
    (configuration, made, *options, provenance), num_trials = calls
    assert configuration["trainer"]["num_epochs"] == 2
    assert made.parameters == RATE
    assert options == ["out", "-loss", "tpe", 3, 4, 2, ["allennlp_sentmatch"]]
    assert provenance["configuration"] == CONFIG
    assert num_trials == 7
    assert capsys.readouterr().out.splitlines()[:2] == [
        "trial 4: a = 1, b = c: failed, no words",
        "best: trial 4: a = 1, b = c: complete, 0.2500 after epoch 2 of 3",
    ]


def test_an_interruption_is_not_a_traceback(allennlp, calls, space, capsys):
    with pytest.raises(SystemExit, match="130"):
        allennlp("tune", CONFIG, space, "-s", "out", "--n-trials", 13)
    assert "the same command continues" in capsys.readouterr().err


def test_without_optuna_the_extra_is_named(allennlp, space, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ConfigurationError, match=r"needs the extra \[tune\]: pip install optuna"):
        allennlp("tune", CONFIG, space, "-s", tmp_path / "study")
    assert not (tmp_path / "study").exists()
