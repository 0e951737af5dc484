"""The temperature falls as its schedule says, also after an interruption."""

import json
import math

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.nn import GumbelTreeLSTM, gumbel_tree_lstm
from allennlp_sentmatch.training.callbacks import GumbelTemperature
from tests.conftest import train_quick_start

ENCODER = {
    "type": "gumbel_tree_lstm",
    "input_size": 4,
    "hidden_size": 3,
    "temperature": 0.9,
}
ANNEALED = {
    "type": "gumbel_temperature",
    "rate": 0.35,
    "end": 0.2,
}


def train(folder, num_epochs, encoder=ENCODER, **settings):
    small = {"dataset_reader.max_instances": 32, "data_loader.batch_size": 16}
    small |= {"trainer.num_epochs": num_epochs, "trainer.callbacks": [ANNEALED]}
    small |= settings
    return train_quick_start(folder, encoder, **small)


@pytest.fixture
def temperatures(monkeypatch):
    """The temperature of each batch in training."""
    used = []

    def choices(merges, noise, temperature):
        if noise is not None:
            used.append(temperature)
        return constructor(merges, noise, temperature)

    constructor = gumbel_tree_lstm.Choices
    monkeypatch.setattr(gumbel_tree_lstm, "Choices", choices)
    return used


def test_falls_after_each_update_and_goes_on_after_an_interruption(temperatures, tmp_path):
    train(tmp_path / "out", num_epochs=1)
    assert temperatures == pytest.approx([0.9, 0.55])  # both sentences of a pair at once
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    config["trainer"]["num_epochs"] = 3
    (tmp_path / "out" / "config.json").write_text(json.dumps(config))
    model = train(tmp_path / "out", num_epochs=3, recover=True)
    assert temperatures == pytest.approx([0.9, 0.55, 0.2, 0.2, 0.2, 0.2])
    (tree,) = (m for m in model.modules() if isinstance(m, GumbelTreeLSTM))
    assert tree.temperature == 0.2


def test_falls_exponentially_every_few_updates_as_in_the_authors_code(temperatures, tmp_path):
    """max(0.5, exp(-r t)) where t is a multiple of 2, as in `snli/train.py`."""
    settings = {
        "type": "gumbel_temperature",
        "schedule": "exponential",
        "rate": 0.1,
        "every": 2,
    }
    encoder = {**ENCODER, "temperature": 1.0}
    callbacks = {"trainer.callbacks": [settings]}
    train(tmp_path, num_epochs=5, encoder=encoder, **callbacks)
    expected = [max(0.5, math.exp(-0.1 * (t // 2 * 2))) for t in range(10)]
    assert expected[-1] == 0.5
    assert temperatures == pytest.approx(expected)


def test_never_rises(temperatures, tmp_path):
    train(tmp_path, num_epochs=1, encoder={**ENCODER, "temperature": 0.1})
    assert temperatures == [0.1, 0.1]


def test_what_cannot_be_annealed(tmp_path):
    with pytest.raises(ConfigurationError, match="needs a gumbel_tree_lstm"):
        train(tmp_path, num_epochs=1, encoder={"type": "boe", "embedding_dim": 4})
    for settings in ({"end": -1.0}, {"rate": 0.0}):
        with pytest.raises(ConfigurationError, match="must be a number above 0; got"):
            GumbelTemperature("unused", **settings)
    with pytest.raises(ConfigurationError, match="one of linear, exponential; got 'cosine'"):
        GumbelTemperature("unused", schedule="cosine")
    with pytest.raises(ConfigurationError, match="every must be an integer of at least 1; got 0"):
        GumbelTemperature("unused", every=0)
