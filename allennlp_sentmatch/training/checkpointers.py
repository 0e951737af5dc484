"""Checkpoints that are complete or absent, whenever training is killed."""

import os
from pathlib import Path
from typing import Any

import torch
from allennlp.training import Checkpointer, Trainer


@Checkpointer.register("atomic")
class AtomicCheckpointer(Checkpointer):
    """AllenNLP's `Checkpointer`, whose files appear under their names only when they are complete.

    With AllenNLP's own, "default", a process that is killed while it writes leaves a part of a file
    or a model without its training state, and `--recover` fails on it ever after. This one is the
    default wherever this package is imported. It has the parameters of `Checkpointer`.
    """

    def save_checkpoint(self, trainer: Trainer) -> None:
        """Save the states of model and training, and remove the oldest checkpoint."""
        state = trainer.get_checkpoint_state()
        if state is not None:
            epochs = state.trainer_state["epochs_completed"]
            batches = state.trainer_state["batches_in_epoch_completed"]
            # A checkpoint is found by its model, which therefore comes last.
            save_atomically(state.trainer_state, self._training_state_path(epochs, batches))
            save_atomically(state.model_state, self._model_state_path(epochs, batches))
        # It leaves files that exist as they are.
        super().save_checkpoint(trainer)


def save_atomically(value: Any, path: str) -> None:
    """`torch.save`, into a temporary file first, which then replaces the one at `path`."""
    temporary = Path(f"{path}.tmp")
    with temporary.open("wb") as file:
        torch.save(value, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


Checkpointer.default_implementation = "atomic"
