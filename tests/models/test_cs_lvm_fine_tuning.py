"""Fine-tuning with semantic constraints, from the archive of a model without them."""

import json

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.models import load_archive

from tests.conftest import REPOSITORY

SMALL = {
    **json.loads((REPOSITORY / "fixtures/training_config/snli_semi.json").read_text()),
    "trainer.num_epochs": 1,
}


@pytest.fixture
def first(tmp_path, monkeypatch):
    """The archive that the first configuration makes."""
    monkeypatch.chdir(REPOSITORY)
    params = Params.from_file("training_config/snli_semi/cs_lvm_28k.jsonnet", SMALL)
    train_model(params, str(tmp_path / "first"), force=True)
    return tmp_path / "first" / "model.tar.gz"


def fine_tuning(archive, **overrides):
    """The second configuration, which starts from `archive`."""
    path = "training_config/snli_semi_fine_tuning/cs_lvm_28k_y_z_mu.jsonnet"
    variables = {"CS_LVM_ARCHIVE": str(archive)}
    return Params.from_file(path, {**SMALL, **overrides}, ext_vars=variables)


def test_starts_from_the_first_models_weights_and_vocabulary(first, tmp_path):
    # With learning rates of zero, training leaves what it began with.
    still = {"type": "adam", "lr": 0.0}
    params = fine_tuning(
        first,
        **{
            "trainer.optimizer": still,
            "trainer.callbacks": [{"type": "constraint_update", "optimizer": still}],
        },
    )
    model = train_model(params, str(tmp_path / "second"))
    before = load_archive(first).model
    assert (
        model.vocab.get_token_to_index_vocabulary() == before.vocab.get_token_to_index_vocabulary()
    )
    state = model.state_dict()
    for name, tensor in before.state_dict().items():
        torch.testing.assert_close(state[name], tensor, rtol=0, atol=0)
    new = set(state) - set(before.state_dict())
    assert new == {"_constraints.weighting.log_variances", "_constraints.temperature.step"}


def test_trains_the_constraints_and_can_be_loaded(first, tmp_path):
    model = train_model(fine_tuning(first), str(tmp_path / "second"))
    metrics = json.loads((tmp_path / "second" / "metrics.json").read_text())
    for name in ("y", "z", "mu"):
        assert f"training_constraint_{name}" in metrics
    assert model._constraints.temperature.step > 0
    assert model._constraints.weighting.log_variances.abs().min() > 0
    first.unlink()  # the second archive does not need it
    loaded = load_archive(tmp_path / "second" / "model.tar.gz").model
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(loaded.state_dict()[name], tensor, rtol=0, atol=0)
