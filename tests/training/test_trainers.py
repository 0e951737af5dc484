"""The trainer computes every model in bfloat16, and restores the precision of products."""

import json
import math
from contextlib import nullcontext

import pytest
import torch
from allennlp.commands.train import TrainModel, train_model
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.training import GradientDescentTrainer, TrainerCallback

import allennlp_sentmatch  # noqa: F401  (registers the trainer)
from tests.conftest import REPOSITORY, train_quick_start

MODELS = sorted((REPOSITORY / "fixtures" / "models").glob("*.json*"))


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch):
    monkeypatch.chdir(REPOSITORY)


@pytest.fixture
def precisions(monkeypatch):
    """The precision of a product in every run of the model, and whether it was for training."""
    seen = set()
    batch_outputs = GradientDescentTrainer.batch_outputs

    def probe(self, batch, for_training):
        x = torch.ones(1, 1, device=self.cuda_device)
        seen.add(((x @ x).dtype, for_training))
        return batch_outputs(self, batch, for_training)

    monkeypatch.setattr(GradientDescentTrainer, "batch_outputs", probe)
    return seen


def params(path, **trainer):
    overrides = {"trainer.type": "bfloat16", "trainer.num_epochs": 1}
    overrides.update({f"trainer.{name}": value for name, value in trainer.items()})
    return Params.from_file(path, json.dumps(overrides))


def onednn_has_lstm():
    """`True` if oneDNN has an LSTM in bfloat16 for this CPU.

    torch checks the CPU, not oneDNN, which `ONEDNN_MAX_CPU_ISA` may restrict.
    """
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            torch.nn.LSTM(1, 1)(torch.zeros(1, 1, 1))
    except RuntimeError:
        return False
    return True


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_model_trains(path, tmp_path, precisions):
    with torch.backends.mkldnn.flags(enabled=onednn_has_lstm()):
        check(params(path), tmp_path, precisions)


@pytest.mark.parametrize("name", ["cs_lvm", "sentence_classifier"])
def test_training_on_a_gpu(name, tmp_path, precisions, simulated_gpu):
    path = REPOSITORY / "fixtures" / "models" / f"{name}.jsonnet"
    check(params(path, cuda_device=0), tmp_path, precisions)


def check(settings, tmp_path, precisions):
    training = TrainModel.from_params(settings, serialization_dir=str(tmp_path), local_rank=0)
    metrics = training.run()
    assert precisions == {(torch.bfloat16, True), (torch.bfloat16, False)}
    assert all(parameter.dtype == torch.float32 for parameter in training.model.parameters())
    assert math.isfinite(metrics["training_loss"])
    assert math.isfinite(metrics["validation_loss"])


def test_refuses_amp(tmp_path):
    with pytest.raises(ConfigurationError, match="use_amp is for float16"):
        train_model(params(MODELS[0], use_amp=True), tmp_path / "model")


class Recorder(TrainerCallback):
    """Records the precision in each batch, in training and validation."""

    precisions: list[tuple[bool, str]] = []
    fail = False

    def on_batch(self, trainer, batch_inputs, batch_outputs, batch_metrics, epoch, batch_number,
                 is_training, **kwargs):  # fmt: skip
        self.precisions.append((is_training, torch.get_float32_matmul_precision()))
        if self.fail:
            raise KeyError("a batch that fails")


@pytest.mark.parametrize("fail", [False, True])
def test_the_precision_of_products_is_restored(tmp_path, monkeypatch, fail):
    """This also holds after an error."""
    monkeypatch.setattr(Recorder, "precisions", [])
    monkeypatch.setattr(Recorder, "fail", fail)
    monkeypatch.setitem(TrainerCallback._registry[TrainerCallback], "recorder", (Recorder, None))
    callbacks = {"trainer.callbacks": ["bfloat16_products", "recorder"]}
    with pytest.raises(KeyError, match="a batch that fails") if fail else nullcontext():
        train_quick_start(tmp_path / "model", **callbacks)
    expected = [(True, "medium")] if fail else [(True, "medium"), (False, "medium")]
    assert sorted(set(Recorder.precisions), reverse=True) == expected
    assert torch.get_float32_matmul_precision() == "highest"
