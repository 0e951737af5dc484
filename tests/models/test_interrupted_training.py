"""After an interrupted training, there is the best epoch's archive, or advice on making it."""

import shlex
import signal
import tarfile

import pytest
import torch
from allennlp.commands import train as train_command
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.training import gradient_descent_trainer
from allennlp.training.callbacks import TrainerCallback

from allennlp_sentmatch.models.archival import archive_training, load_archive
from tests.models.test_class_weights import configuration


@TrainerCallback.register("tests_signal")
class Signal(TrainerCallback):
    """Calls a function of the test at the end of each epoch, before its checkpoint."""

    on_epoch_end = staticmethod(lambda epoch: None)

    def on_epoch(self, trainer, metrics, epoch, **kwargs):
        Signal.on_epoch_end(epoch)


def train(folder, num_epochs=3, recover=False, name="out", **trainer):
    """As training lowers the loss, the last epoch is the best."""
    config = configuration(folder, None)
    config["trainer"].update(num_epochs=num_epochs, callbacks=["tests_signal"], **trainer)
    config["test_data_path"] = config["validation_data_path"]
    config["evaluate_on_test"] = True
    out = folder / name
    train_command.train_model(Params(config), str(out), recover=recover)  # this package's version
    return out


def interrupted(folder, **settings):
    """The sentence with which a training is interrupted, and its folder."""
    with pytest.raises(KeyboardInterrupt) as error:
        train(folder, **settings)
    out = folder / "out"
    assert not list(out.glob("*.tmp"))
    return str(error.value), out


def weights(out):
    with tarfile.open(out / "model.tar.gz") as archive:
        return torch.load(archive.extractfile("weights.th"))


def assert_best(out, folder, num_epochs, **settings):
    """The archive has the weights of a training of this many epochs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Signal, "on_epoch_end", staticmethod(lambda epoch: None))
        expected = weights(train(folder, num_epochs, name="expected", **settings))
    found = weights(out)
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in found)
    load_archive(out / "model.tar.gz")


def interrupt(*args):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"moving_average": {"type": "exponential"}},
    ],
    ids=str,
)
@pytest.mark.parametrize("num_epochs", [1, 2])
def test_while_a_checkpoint_is_written(tmp_path, monkeypatch, num_epochs, settings):
    """Then `best.th` is from the epoch before, or missing."""

    def save(value, file):
        if f"model_state_e{num_epochs}_b0" in str(getattr(file, "name", file)):
            signal.raise_signal(signal.SIGINT)
        original(value, file)

    original = torch.save
    monkeypatch.setattr(torch, "save", save)
    sentence, out = interrupted(tmp_path, **settings)
    assert (
        sentence
        == f"{out}/model.tar.gz has the best epoch so far; --recover continues the training"
    )
    monkeypatch.setattr(torch, "save", original)
    assert_best(out, tmp_path, num_epochs, **settings)


def test_while_best_weights_change_places(tmp_path, monkeypatch):
    """AllenNLP deletes `best.th` before it links the new one."""
    calls = []

    def link(source, target):
        calls.append(source)
        return original(source, target) if len(calls) == 1 else interrupt()

    original = gradient_descent_trainer.hardlink_or_copy
    with monkeypatch.context() as patch:
        patch.setattr(gradient_descent_trainer, "hardlink_or_copy", link)
        _, out = interrupted(tmp_path)
    assert_best(out, tmp_path, num_epochs=2)


def test_while_the_last_epoch_is_evaluated(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(TrainModel, "finish", interrupt)
        sentence, out = interrupted(tmp_path)
    assert "model.tar.gz has the best epoch so far" in sentence
    assert len(weights(out)) > 0


def test_while_the_archive_is_written(tmp_path, monkeypatch):
    """No part of an archive is left, and the sentence says how to make it."""

    def add(self, name, *args, **kwargs):
        return (
            interrupt()
            if str(name).endswith("vocabulary")
            else original(self, name, *args, **kwargs)
        )

    original = tarfile.TarFile.add
    with monkeypatch.context() as patch:
        patch.setattr(tarfile.TarFile, "add", add)
        sentence, out = interrupted(tmp_path)
    assert not (out / "model.tar.gz").exists()
    command = sentence.partition(" with python ")[2].partition(", or continue")[0]
    option, code = shlex.split(command)
    assert option == "-c"
    exec(code, {})
    assert_best(out, tmp_path, num_epochs=3)


def test_within_the_first_epoch(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Signal, "on_epoch_end", interrupt)
        sentence, out = interrupted(tmp_path)
    assert sentence == f"no epoch is complete, and {out} has no archive; --force begins again"
    with pytest.raises(ConfigurationError, match=r"best\.th does not exist: no epoch .* --recover"):
        archive_training(out)


def test_between_the_end_of_an_epoch_and_its_checkpoint(tmp_path, monkeypatch):
    """The archive has the best of the complete epochs."""
    with monkeypatch.context() as patch:
        patch.setattr(Signal, "on_epoch_end", lambda epoch: interrupt() if epoch == 1 else None)
        _, out = interrupted(tmp_path)
    assert_best(out, tmp_path, num_epochs=1)


def test_continues_after_an_interruption(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Signal, "on_epoch_end", lambda epoch: interrupt() if epoch == 1 else None)
        _, out = interrupted(tmp_path)
    train(tmp_path, recover=True)
    assert_best(out, tmp_path, num_epochs=3)
