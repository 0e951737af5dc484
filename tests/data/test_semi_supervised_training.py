"""The loader in AllenNLP's trainer: interrupted and resumed training."""

from typing import ClassVar

import pytest
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.training import TrainerCallback

import allennlp_sentmatch  # noqa: F401  (registers the components)
from tests.conftest import REPOSITORY


@TrainerCallback.register("tests_recorder")
class Recorder(TrainerCallback):
    """Remembers what every step saw, and interrupts training after `stop_after` steps."""

    seen: ClassVar[list] = []
    stop_after = None

    def on_batch(self, trainer, batch_inputs, batch_outputs, batch_metrics, *args, **kwargs):
        (batch,) = batch_inputs
        if kwargs["is_training"]:
            labeled = [pair["id"] for pair in batch["metadata"]]
            unlabeled = batch["unlabeled_hypothesis"]["tokens"]["tokens"].tolist()
            Recorder.seen.append((labeled, unlabeled))
            if len(Recorder.seen) == Recorder.stop_after:
                raise InterruptedError


def params(epoch):
    return Params.from_file(
        REPOSITORY / "fixtures" / "models" / "vae_siamese.jsonnet",
        {
            "data_loader.batch_size": 1,
            "data_loader.num_labeled": 3,
            "data_loader.epoch": epoch,
            "trainer.num_epochs": 3,
            "trainer.callbacks": [{"type": "tests_recorder"}],
            "trainer.checkpointer": {"save_every_num_batches": 1},
        },
    )


@pytest.mark.parametrize(("epoch", "length"), [("longer", 4), ("labeled", 3)])
def test_resumed_training_goes_on_where_it_stopped(epoch, length, tmp_path, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr(Recorder, "seen", [])
    train_model(params(epoch), str(tmp_path / "uninterrupted"))
    expected = Recorder.seen
    steps = 3 * length  # three epochs of three labeled or four unlabeled pairs
    assert len(expected) == steps
    assert expected[:length] != expected[length : 2 * length]

    for stop_after in (1, 6):
        folder = str(tmp_path / f"interrupted_{stop_after}")
        Recorder.seen = []
        monkeypatch.setattr(Recorder, "stop_after", stop_after)
        with pytest.raises(InterruptedError):
            train_model(params(epoch), folder)
        monkeypatch.setattr(Recorder, "stop_after", None)
        train_model(params(epoch), folder, recover=True)
        # The step that was interrupted may be repeated, because no checkpoint has it yet.
        assert Recorder.seen[:stop_after] == expected[:stop_after]
        resumed = Recorder.seen[stop_after:]
        assert resumed == expected[-len(resumed) :]
        assert stop_after + len(resumed) in (steps, steps + 1)
