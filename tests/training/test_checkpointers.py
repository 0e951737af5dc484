"""A checkpoint is whole or absent, whenever a process is interrupted or killed."""

import signal
import threading
from types import SimpleNamespace

import pytest
import torch
from allennlp.common import Lazy, Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import SigTermReceived, install_sigterm_handler
from allennlp.training import Checkpointer
from allennlp.training.trainer import TrainerCheckpoint

from allennlp_sentmatch.training.checkpointers import (
    AtomicCheckpointer,
    deferred_signals,
    save_atomically,
)


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
        "model_state_e2_b0.th",
        "model_state_e3_b0.th",
        "training_state_e2_b0.th",
        "training_state_e3_b0.th",
    ]


@pytest.mark.parametrize("part", ["model", "training"])
@pytest.mark.parametrize("content", [b"", b"garbage" * 100, b"PK\x03\x04", None])
def test_a_damaged_checkpoint_is_named(tmp_path, part, content):
    checkpointer = AtomicCheckpointer(tmp_path)
    for epochs in (1, 2):
        checkpointer.save_checkpoint(trainer(epochs, epochs / 2))
    file = tmp_path / f"{part}_state_e2_b0.th"
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    if content is not None or part == "training":  # the model's file makes a checkpoint
        with pytest.raises(ConfigurationError, match=f"{file}.* is damaged or incomplete"):
            checkpointer.load_checkpoint()
    for file in tmp_path.glob("*_e2_b0.th"):
        file.unlink()
    assert checkpointer.load_checkpoint().trainer_state["value"] == 0.5


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
    # A new process finds the previous checkpoint, and then writes the same one again.
    checkpointer = AtomicCheckpointer(tmp_path)
    assert checkpointer.load_checkpoint().trainer_state["value"] == 1.0
    checkpointer.save_checkpoint(trainer(2, 3.0))
    assert checkpointer.load_checkpoint().trainer_state["value"] == 3.0
    assert not list(tmp_path.glob("*.tmp"))


@pytest.fixture
def sigterm_handler():
    """AllenNLP's handler, as its program installs it."""
    previous = signal.getsignal(signal.SIGTERM)
    install_sigterm_handler()
    yield
    signal.signal(signal.SIGTERM, previous)


@pytest.mark.parametrize(
    ("number", "error"),
    [
        (signal.SIGINT, KeyboardInterrupt),
        (signal.SIGTERM, SigTermReceived),
    ],
)
@pytest.mark.parametrize("interrupted_at", [0, 1])
def test_a_signal_waits_for_the_end_of_a_checkpoint(
    tmp_path, monkeypatch, sigterm_handler, number, error, interrupted_at
):
    calls = []

    def save(value, file):
        file.write(b"")
        if len(calls) == interrupted_at:
            signal.raise_signal(number)
        calls.append(value)
        original(value, file)

    original = torch.save
    checkpointer = AtomicCheckpointer(tmp_path)
    monkeypatch.setattr(torch, "save", save)
    handler = signal.getsignal(number)
    with pytest.raises(error):
        checkpointer.save_checkpoint(trainer(2, 2.0))
    assert signal.getsignal(number) is handler
    assert AtomicCheckpointer(tmp_path).load_checkpoint().trainer_state["value"] == 2.0
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("error", [KeyboardInterrupt, SigTermReceived, OSError])
def test_an_error_within_the_writer_leaves_what_was_there(tmp_path, monkeypatch, error):
    path = tmp_path / "best.th"
    save_atomically({"weight": 1.0}, str(path))

    def save(value, file):
        file.write(b"the first by")
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", save)
        with pytest.raises(error):
            save_atomically({"weight": 2.0}, str(path))
    assert torch.load(path) == {"weight": 1.0}
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_process_left_is_removed(tmp_path):
    (tmp_path / "model_state_e2_b0.th.tmp").write_bytes(b"the first by")
    (tmp_path / "notes.tmp").write_text("of somebody else")
    AtomicCheckpointer(tmp_path).load_checkpoint()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.tmp"]


def test_blocks_within_a_block_wait_for_the_outer_one():
    passed = []

    def save():
        with deferred_signals():
            with deferred_signals():
                signal.raise_signal(signal.SIGINT)
                passed.append("inner")
            passed.append("outer")

    with pytest.raises(KeyboardInterrupt):
        save()
    assert passed == ["inner", "outer"]


def test_another_thread_can_save(tmp_path):
    path = str(tmp_path / "best.th")
    thread = threading.Thread(target=save_atomically, args=({"weight": 1.0}, path))
    thread.start()
    thread.join()
    assert torch.load(path) == {"weight": 1.0}
