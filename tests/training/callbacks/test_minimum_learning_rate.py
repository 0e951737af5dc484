"""A training ends when its learning rate is below the minimum."""

import json

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.training.callbacks import MinimumLearningRate
from tests.conftest import SMALL_QUICK_START


@pytest.mark.parametrize(("minimum", "epochs"), [(1e-5, 4), (6e-4, 3)])
def test_the_last_epoch(tmp_path, repository, monkeypatch, minimum, epochs):
    from allennlp.commands.train import train_model_from_file

    monkeypatch.chdir(repository)
    overrides = {
        **SMALL_QUICK_START,
        "trainer.num_epochs": 4,
        "trainer.optimizer": {"type": "sgd", "lr": 0.1},
        # 0.1, 0.01, 0.001 during the first three epochs; then 0.0001.
        "trainer.learning_rate_scheduler": {"type": "infersent", "decay": 0.1, "shrink": 1.0},
        "trainer.callbacks": [{"type": "minimum_learning_rate", "minimum": minimum}],
    }
    train_model_from_file(
        "training_config/quick_start.jsonnet", tmp_path / "model", json.dumps(overrides)
    )
    metrics = json.loads((tmp_path / "model" / "metrics.json").read_text())
    assert metrics["epoch"] == epochs - 1
    assert (tmp_path / "model" / "model.tar.gz").is_file()


def test_the_minimum_is_positive():
    with pytest.raises(ConfigurationError, match="more than 0, got 0"):
        MinimumLearningRate("", 0)
