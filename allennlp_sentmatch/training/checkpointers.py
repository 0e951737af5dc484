"""Checkpoints that are complete or absent, whenever training is interrupted or killed.

Importing this module also lets AllenNLP's trainer write `best.th`, the weights of the best epoch,
in this way: a part of them would go into the archive of an interrupted training.
"""

import os
import pickle
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Callable, Optional

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.training import Checkpointer, GradientDescentTrainer, Trainer
from allennlp.training.trainer import TrainerCheckpoint

TEMPORARY = ".tmp"
"""The suffix of files that are being written."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@Checkpointer.register("atomic")
class AtomicCheckpointer(Checkpointer):
    """AllenNLP's `Checkpointer`, whose files appear under their names only when they are complete.

    With AllenNLP's own, "default", a process that is killed while it writes leaves a part of a
    file, or a model without its training state, on which `--recover` always fails. This one is the
    default once this package is imported. It has the parameters of `Checkpointer`.

    Ctrl-C and SIGTERM wait until a checkpoint is complete.
    """

    def save_checkpoint(self, trainer: Trainer) -> None:
        """Save the states of model and training, and remove the oldest checkpoint."""
        with deferred_signals():
            state = trainer.get_checkpoint_state()
            if state is not None:
                epochs = state.trainer_state["epochs_completed"]
                batches = state.trainer_state["batches_in_epoch_completed"]
                # AllenNLP finds a checkpoint by its model, which is therefore written last.
                save_atomically(state.trainer_state, self._training_state_path(epochs, batches))
                save_atomically(state.model_state, self._model_state_path(epochs, batches))
            # The base class does not overwrite existing files.
            super().save_checkpoint(trainer)

    def load_checkpoint(self) -> Optional[TrainerCheckpoint]:
        """Load the newest checkpoint, and remove the partial files of a killed process.

        Raise `ConfigurationError`, which names its files, if it is damaged or lacks one of them.
        """
        if self._is_primary and self._serialization_dir is not None:
            for file in Path(self._serialization_dir).glob(f"*.th{TEMPORARY}"):
                file.unlink()
        try:
            return super().load_checkpoint()
        except (OSError, EOFError, RuntimeError, pickle.UnpicklingError) as error:
            # torch's own message may recommend loading the file in a way that runs any code in it.
            files = " and ".join(self.find_latest_checkpoint() or ())
            raise ConfigurationError(
                f"the checkpoint {files} is damaged or incomplete ({type(error).__name__}); remove "
                "these files, and --recover continues with the checkpoint before; or begin again "
                "with --force"
            ) from None


def save_atomically(value: Any, path: str) -> None:
    """Save to a temporary file by `torch.save`, and then move it to `path`.

    Ctrl-C and SIGTERM are deferred: within torch's writer, they would become another error. After
    an error there is no temporary file.
    """
    temporary = Path(path + TEMPORARY)
    with deferred_signals():
        try:
            with temporary.open("wb") as file:
                torch.save(value, file)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait for the end of the block.

    Only the main thread receives signals; in other threads, nothing changes. A signal without a
    handler in Python, which ends the process or is ignored, keeps its effect.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def remember(number: int, frame: Optional[FrameType]) -> None:
        received.append(number)

    handlers: dict[int, Callable[..., Any]] = {}
    for number in _SIGNALS:
        handler = signal.getsignal(number)
        if callable(handler):
            handlers[number] = handler
            signal.signal(number, remember)
    try:
        yield
    finally:
        for caught, handler in handlers.items():
            signal.signal(caught, handler)
        if received:
            handlers[received[0]](received[0], None)


def _save_model_state(self: Any, path: str) -> None:
    """Replace the trainer's own method, which writes to `path` itself."""
    model = self.model if self._ddp_wrapped_model is None else self._ddp_wrapped_model
    save_atomically(model.state_dict(), path)


Checkpointer.default_implementation = "atomic"
GradientDescentTrainer._save_model_state = _save_model_state  # type: ignore[method-assign]
