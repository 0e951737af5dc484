from types import SimpleNamespace

import pytest
import torch
from allennlp.common import Lazy, Params
from allennlp.training import Checkpointer
from allennlp.training.trainer import TrainerCheckpoint

from allennlp_sentmatch.training.checkpointers import AtomicCheckpointer


def trainer(epochs: int, value: float) -> SimpleNamespace:
    state = TrainerCheckpoint(
        {"weight": torch.tensor(value)},
        {"epochs_completed": epochs, "batches_in_epoch_completed": 0, "value": value},
    )
    return SimpleNamespace(get_checkpoint_state=lambda: state)


def test_is_the_default(tmp_path):
    for checkpointer in (
        Lazy(Checkpointer).construct(serialization_dir=tmp_path),
        Checkpointer.from_params(Params({"keep_most_recent_by_count": 3}), serialization_dir="a"),
    ):
        assert type(checkpointer) is AtomicCheckpointer
    explicit = Checkpointer.from_params(Params({"type": "default"}), serialization_dir=tmp_path)
    assert type(explicit) is Checkpointer


def test_saves_and_keeps_the_most_recent(tmp_path):
    checkpointer = AtomicCheckpointer(tmp_path, keep_most_recent_by_count=2)
    for epochs in (1, 2, 3):
        checkpointer.save_checkpoint(trainer(epochs, epochs / 2))
    loaded = checkpointer.load_checkpoint()
    assert loaded.model_state == {"weight": torch.tensor(1.5)}
    assert loaded.trainer_state["value"] == 1.5
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{kind}_state_e{epochs}_b0.th" for kind in ("model", "training") for epochs in (2, 3)
    ]


@pytest.mark.parametrize("killed_at", [0, 1])
def test_killed_while_a_file_is_written(tmp_path, monkeypatch, killed_at):
    checkpointer = AtomicCheckpointer(tmp_path)
    checkpointer.save_checkpoint(trainer(1, 1.0))
    calls = []

    def save(value, file):
        calls.append(value)
        if len(calls) > killed_at:
            file.write(b"the first by")
            raise InterruptedError
        original(value, file)

    original = torch.save
    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", save)
        with pytest.raises(InterruptedError):
            checkpointer.save_checkpoint(trainer(2, 2.0))
    # A new process finds the checkpoint before, and then writes the same one again.
    checkpointer = AtomicCheckpointer(tmp_path)
    assert checkpointer.load_checkpoint().trainer_state["value"] == 1.0
    checkpointer.save_checkpoint(trainer(2, 3.0))
    assert checkpointer.load_checkpoint().trainer_state["value"] == 3.0
    assert not list(tmp_path.glob("*.tmp"))
