"""Fine-tuning with semantic constraints, from the archive of a model without them."""

import json
import shutil

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.models import load_archive

from tests.conftest import REPOSITORY

SMALL = {
    **json.loads((REPOSITORY / "fixtures/training_config/snli_semi.json").read_text()),
    "trainer.num_epochs": 1,
    "model.text_field_embedder.token_embedders.tokens.embedding_dim": 8,
    "model.encoder.input_size": 8,
    "model.encoder.hidden_size": 8,
    "model.posterior.latent_size": 6,
    "model.classifier.hidden_size": 8,
}
"""A tenth of the thesis's sizes and less, which tests/test_training_configs.py trains."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The archive that the first configuration makes."""
    folder = tmp_path_factory.mktemp("first")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        params = Params.from_file("training_config/snli_semi/cs_lvm_28k.jsonnet", SMALL)
        train_model(params, str(folder), force=True)
    return folder / "model.tar.gz"


def fine_tuning(archive, **overrides):
    """The second configuration, which starts from `archive`."""
    path = "training_config/snli_semi_fine_tuning/cs_lvm_28k_y_z_mu.jsonnet"
    variables = {"CS_LVM_ARCHIVE": str(archive)}
    return Params.from_file(path, {**SMALL, **overrides}, ext_vars=variables)


@pytest.mark.parametrize("rate", [0.0, 1e-3])
def test_starts_from_the_first_model_and_trains_the_constraints(
    trained, tmp_path, monkeypatch, rate
):
    """With learning rates of zero, training changes nothing."""
    monkeypatch.chdir(REPOSITORY)
    first = shutil.copy(trained, tmp_path / "first.tar.gz")
    optimizer = {"type": "adam", "lr": rate}
    callbacks = [{"type": "constraint_update", "optimizer": optimizer}]
    overrides = {"trainer.optimizer": optimizer, "trainer.callbacks": callbacks}
    model = train_model(fine_tuning(first, **overrides), str(tmp_path / "second"))
    before = load_archive(first).model
    state = model.state_dict()
    assert len({str(m.vocab.get_token_to_index_vocabulary()) for m in (model, before)}) == 1
    new = set(state) - set(before.state_dict())
    assert new == {"_constraints.weighting.log_variances", "_constraints.temperature.step"}
    unchanged = [state[name].equal(tensor) for name, tensor in before.state_dict().items()]
    assert all(unchanged) == (rate == 0)
    metrics = json.loads((tmp_path / "second" / "metrics.json").read_text())
    for name in ("y", "z", "mu"):
        assert f"training_constraint_{name}" in metrics
    assert model._constraints.temperature.step > 0
    assert model._constraints.weighting.log_variances.any() == (rate > 0)
    first.unlink()  # the second archive does not need it
    loaded = load_archive(tmp_path / "second" / "model.tar.gz").model
    for name, tensor in state.items():
        torch.testing.assert_close(loaded.state_dict()[name], tensor, rtol=0, atol=0)
