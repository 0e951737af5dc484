"""Products are faster and less precise during a training, and only then."""

import json

import pytest
import torch
from allennlp.training import TrainerCallback

from allennlp_sentmatch.training.callbacks import Bfloat16ProductsCallback
from tests.conftest import SMALL_QUICK_START


class Recorder(TrainerCallback):
    """Notes the precision in each batch, of training and of validation."""

    precisions: list[tuple[bool, str]] = []
    fail = False

    def on_batch(self, trainer, batch_inputs, batch_outputs, batch_metrics, epoch, batch_number,
                 is_training, **kwargs):  # fmt: skip
        self.precisions.append((is_training, torch.get_float32_matmul_precision()))
        if self.fail:
            raise KeyError("a batch that fails")


@pytest.fixture
def train(tmp_path, repository, monkeypatch):
    from allennlp.commands.train import train_model_from_file

    monkeypatch.chdir(repository)
    monkeypatch.setattr(Recorder, "precisions", [])
    monkeypatch.setitem(TrainerCallback._registry[TrainerCallback], "recorder", (Recorder, None))
    overrides = {
        **SMALL_QUICK_START,
        "trainer.num_epochs": 1,
        "trainer.callbacks": [{"type": "bfloat16_products"}, {"type": "recorder"}],
    }
    return lambda: train_model_from_file(
        "training_config/quick_start.jsonnet", tmp_path / "model", json.dumps(overrides)
    )


def test_the_precision_of_products(train):
    assert TrainerCallback.by_name("bfloat16_products") is Bfloat16ProductsCallback
    train()
    assert set(Recorder.precisions) == {(True, "medium"), (False, "medium")}
    assert torch.get_float32_matmul_precision() == "highest"


def test_the_precision_is_restored_after_an_error(train, monkeypatch):
    monkeypatch.setattr(Recorder, "fail", True)
    with pytest.raises(KeyError, match="a batch that fails"):
        train()
    assert Recorder.precisions == [(True, "medium")]
    assert torch.get_float32_matmul_precision() == "highest"
