"""AllenNLP's own commands with this package's components."""

import argparse
import json
import tarfile
from pathlib import Path

import pytest
import torch
from allennlp.commands import Subcommand

import allennlp_sentmatch  # noqa: F401  (patches the commands)
from tests.conftest import SMALL_QUICK_START

CONFIG = "training_config/quick_start.jsonnet"
TEST = "fixtures/quick_start/test.tsv"


def overrides(**changes: object) -> str:
    return json.dumps({**SMALL_QUICK_START, **changes})


def metrics(folder: Path) -> dict:
    return json.loads((folder / "metrics.json").read_text())


def test_train_evaluate_and_predict(allennlp, tmp_path, fixtures, recwarn):
    out = tmp_path / "out"
    allennlp("train", CONFIG, "-s", out, "-o", overrides())
    assert not [warning for warning in recwarn if warning.category is FutureWarning]
    allennlp(
        "evaluate", out / "model.tar.gz", fixtures / "quick_start" / "test.tsv",
        "--output-file", tmp_path / "metrics.json",
    )  # fmt: skip
    evaluated = json.loads((tmp_path / "metrics.json").read_text())
    assert evaluated["accuracy"] == pytest.approx(metrics(out)["best_validation_accuracy"])
    assert evaluated["loss"] == pytest.approx(metrics(out)["best_validation_loss"], rel=1e-4)

    pairs = [
        {"premise": "A kitten sleeps.", "hypothesis": "A cat sleeps."},
        {"sentence1": "A kitten sleeps.", "sentence2": "A dog sleeps, or so it seems to be."},
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    allennlp(
        "predict", out / "model.tar.gz", tmp_path / "pairs.jsonl", "--silent",
        "--output-file", tmp_path / "predictions.jsonl",
    )  # fmt: skip
    lines = (tmp_path / "predictions.jsonl").read_text().splitlines()
    for pair, prediction in zip(pairs, map(json.loads, lines)):
        assert prediction.items() >= pair.items()
        assert prediction["label"] in ["entailment", "contradiction", "neutral"]
    assert len(lines) == 2


def number_of_updates(folder: Path) -> int:
    """The number of the optimizer's steps in a training of one epoch."""
    state = torch.load(folder / "training_state_e1_b0.th")  # plain values and tensors
    (number,) = {int(of_parameter["step"]) for of_parameter in state["optimizer"]["state"].values()}
    return number


@pytest.mark.slow
def test_distributed_training_with_two_processes(allennlp, tmp_path):
    """With half the batch size, there are as many updates. All test data are read."""
    alone = tmp_path / "alone"
    out = tmp_path / "out"
    changes = {"test_data_path": TEST, "evaluate_on_test": True}
    allennlp("train", CONFIG, "-s", alone, "-o", overrides(**changes))
    changes.update({"distributed": {"cuda_devices": [-1, -1]}, "data_loader.batch_size": 50})
    allennlp("train", CONFIG, "-s", out, "-o", overrides(**changes))
    assert number_of_updates(out) == 3
    assert number_of_updates(alone) == 3  # of 300 pairs
    assert 0.0 <= metrics(out)["best_validation_accuracy"] <= 1.0
    assert (out / "model.tar.gz").is_file()
    assert "worker_1_memory_MB" in " ".join(metrics(out))
    allennlp("evaluate", out / "model.tar.gz", TEST, "--output-file", tmp_path / "figures.json")
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert {name: metrics(out)[f"test_{name}"] for name in figures} == pytest.approx(figures)


@pytest.mark.parametrize("name", Subcommand.list_available())
def test_no_patch_replaces_a_command_that_the_parser_has_before_plugins_are_imported(name):
    """Unlike these tests, `allennlp` would still run AllenNLP's function."""
    parsers = argparse.ArgumentParser().add_subparsers()
    function = Subcommand.by_name(name)().add_subparser(parsers).get_default("func")
    assert not hasattr(function, "__wrapped__")


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ("find-lr CONFIG -s OUT --num-batches 12", "out/lr-losses.png"),
        ("build-vocab CONFIG OUT.tar.gz", "out.tar.gz"),
        ("count-instances CONFIG", None),
    ],
)
@pytest.mark.parametrize("validation", [None, {"path": TEST, "folds": {"number": 9, "keep": [0]}}])
def test_commands_that_read_the_data(allennlp, tmp_path, command, made, validation, capsys):
    """There may be no validation data, or fewer than the training's loader wants."""
    pytest.importorskip("matplotlib")
    words = command.replace("CONFIG", CONFIG).replace("OUT", str(tmp_path / "out")).split()
    loader = {
        "type": "semi_supervised",
        "num_labeled": 200,
        "labeled_only": True,
    }
    changes = {f"data_loader.{name}": value for name, value in loader.items()}
    paths = {"test_data_path": None, "validation_data_path": validation}
    paths["validation_data_loader"] = None
    allennlp(*words, "-o", overrides(**paths, **changes))
    if made is None:
        assert "contains 200 instances" in capsys.readouterr().out
    elif command.startswith("build-vocab"):
        with tarfile.open(tmp_path / made) as archive:
            assert "tokens.txt" in archive.getnames()  # of the overrides' token indexer
    else:
        assert (tmp_path / made).stat().st_size > 0
