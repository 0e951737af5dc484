"""Recovered training that equals uninterrupted training bit for bit."""

import json
import logging
import os
import random
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Optional

import numpy
import torch
from allennlp.common.util import SigTermReceived, is_distributed
from allennlp.data import DataLoader, TensorDict
from allennlp.training.callbacks import TrainerCallback
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from torch import distributed

from allennlp_sentmatch.training.checkpointers import save_atomically
from allennlp_sentmatch.training.workers import gather

logger = logging.getLogger(__name__)

RandomState = dict[str, Any]


@TrainerCallback.register("exact_recovery")
class ExactRecovery(TrainerCallback):
    """Adds to checkpoints what AllenNLP leaves out, so that `allennlp train --recover` after any
    interruption ends with the weights and validation metrics of uninterrupted training.

    These are the random states of Python, NumPy, torch and the GPU, of the checkpoint and of the
    start of each epoch (13 KB each), so that the loader shuffles as it did, the scale of mixed
    precision, and the names of frozen parameters, for `gradual_unfreezing`. `best.th`, which is
    written later, is restored after an interruption in between, and is found in a folder that was
    moved.

    Exceptions: the training metrics of an epoch that was interrupted between two checkpoints within
    it (AllenNLP loses the sum of the losses before); operations without a deterministic
    implementation; the embedder "cached", which reads the texts again in other batches, so that
    their vectors differ by rounding; loaders with several worker processes (`num_workers`), whose
    data come in the order in which they are ready; and, in distributed training, checkpoints within
    an epoch, after which all workers continue from the first worker's random state.

    It is one of the trainer's default callbacks once this package is imported; with
    `"enable_default_callbacks": false`, list it under `callbacks`.
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._epoch_starts: list[list[RandomState]] = []
        """The random state at the start of each epoch, by epoch and worker."""
        self._checkpoint: dict[str, Any] = {}
        self._running_epoch: Optional[int] = None

    def on_start(
        self, trainer: GradientDescentTrainer, is_primary: bool = True, **kwargs: Any
    ) -> None:
        """Wrap the trainer's loader, and restore the state that AllenNLP does not restore."""
        self.trainer = trainer
        loader: Any = _RecordedLoader(trainer.data_loader, self)
        trainer.data_loader = loader
        is_end_of_epoch = trainer._start_after_batches_in_epoch_completed == 0
        if trainer._start_after_epochs_completed == 0 and is_end_of_epoch:
            return  # a new training
        best = trainer._best_model_filename
        if best is not None:  # in the folder that the checkpoint was written to
            trainer._best_model_filename = os.path.join(self.serialization_dir, Path(best).name)
        if self._checkpoint:
            self._restore(trainer)
        else:
            logger.warning(
                "The checkpoint in %s lacks random states: this training will differ from an "
                "uninterrupted one.",
                self.serialization_dir,
            )
        if is_end_of_epoch:  # the trainer has work to do after an epoch's checkpoint
            if trainer._metric_tracker.should_stop_early():
                trainer._num_epochs = trainer._start_after_epochs_completed
            self._save_best_weights(trainer, is_primary)

    def _restore(self, trainer: GradientDescentTrainer) -> None:
        """Restore which parameters are frozen and the scale of mixed precision, if it has them."""
        if "frozen" in self._checkpoint:
            for name, parameter in trainer.model.named_parameters():
                parameter.requires_grad_(name not in self._checkpoint["frozen"])
        if trainer._scaler is not None and "grad_scaler" in self._checkpoint:
            trainer._scaler.load_state_dict(self._checkpoint["grad_scaler"])

    def on_epoch(
        self,
        trainer: GradientDescentTrainer,
        metrics: dict[str, Any],
        epoch: int,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Remember the random states in which the next epoch starts."""
        del self._epoch_starts[epoch + 1 :]
        self._epoch_starts.append(self._states_of_all_workers())

    def on_end(
        self,
        trainer: GradientDescentTrainer,
        metrics: Optional[dict[str, Any]] = None,
        epoch: Optional[int] = None,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        """Give the trainer its own loader back, and the metrics of the last epoch.

        After an interruption between the checkpoint of an epoch and the next one, `best.th` has the
        weights of this epoch if they are the best.
        """
        loader: Any = trainer.data_loader
        if isinstance(loader, _RecordedLoader):
            trainer.data_loader = loader.loader
        was_interrupted = isinstance(sys.exc_info()[1], (KeyboardInterrupt, SigTermReceived))
        running = self._running_epoch
        if was_interrupted and running is not None and trainer._epochs_completed > running:
            self._save_best_weights(trainer, is_primary)
        if metrics is None or "epoch" in metrics or self.serialization_dir is None:
            return
        last = Path(self.serialization_dir, f"metrics_epoch_{trainer._num_epochs - 1}.json")
        if last.is_file():
            metrics.update(json.loads(last.read_text(encoding="utf-8")))

    def state_dict(self) -> dict[str, Any]:
        """Return the current random states, those at the start of epochs, and further state."""
        state: dict[str, Any] = {
            "epoch_starts": list(self._epoch_starts),
            "random_state": random_state(self._gpu()),
        }
        if self.trainer is not None:
            parameters = self.trainer.model.named_parameters()
            state["frozen"] = [name for name, x in parameters if not x.requires_grad]
            if self.trainer._scaler is not None:
                state["grad_scaler"] = self.trainer._scaler.state_dict()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a `state_dict`, or nothing from a checkpoint without this callback."""
        if "epoch_starts" in state_dict:
            self._checkpoint = state_dict
            self._epoch_starts = list(state_dict["epoch_starts"])

    def start_epoch(self) -> None:
        """Set all generators to their states at the start of the current epoch."""
        assert self.trainer is not None
        epoch = self.trainer._epochs_completed
        self._running_epoch = epoch
        if epoch == len(self._epoch_starts):
            self._epoch_starts.append(self._states_of_all_workers())
        rank = distributed.get_rank() if is_distributed() else 0
        set_random_state(self._epoch_starts[epoch][rank], self._gpu())

    def start_batch(self, position: int) -> None:
        """Set all generators to their states at the checkpoint, if it is within an epoch."""
        trainer = self.trainer
        assert trainer is not None
        trained = trainer._start_after_batches_in_epoch_completed
        if (
            self._checkpoint
            and trained > 0
            and trainer._epochs_completed == trainer._start_after_epochs_completed
            and position == trained * trainer._num_gradient_accumulation_steps
        ):
            set_random_state(self._checkpoint["random_state"], self._gpu())

    def _save_best_weights(self, trainer: GradientDescentTrainer, is_primary: bool) -> None:
        """Write `best.th` at the end of an epoch, if it is the best."""
        is_sharded = getattr(trainer._ddp_wrapped_model, "is_sharded", False)
        if is_sharded or not trainer._metric_tracker.is_best_so_far():
            return
        trainer._best_model_filename = os.path.join(self.serialization_dir, "best.th")
        if not is_primary:
            return
        average = trainer._moving_average
        if average is not None:
            average.assign_average_value()
        try:
            save_atomically(trainer.model.state_dict(), trainer._best_model_filename)
        finally:
            if average is not None:
                average.restore()

    def _states_of_all_workers(self) -> list[RandomState]:
        """Return the current random state of each worker, by its rank."""
        return gather(random_state(self._gpu()))

    def _gpu(self) -> Optional[torch.device]:
        """Return the trainer's device, or `None` for a CPU and before the training."""
        device = None if self.trainer is None else self.trainer.cuda_device
        return device if device is not None and device.type != "cpu" else None


class _RecordedLoader:
    """A data loader that tells an `ExactRecovery` of each epoch and batch before it starts."""

    def __init__(self, loader: DataLoader, recovery: ExactRecovery) -> None:
        self.loader = loader
        self._recovery = recovery

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[TensorDict]:
        self._recovery.start_epoch()
        batches = iter(self.loader)
        for position in count():
            self._recovery.start_batch(position)
            try:
                batch = next(batches)
            except StopIteration:
                return
            yield batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)


def random_state(gpu: Optional[torch.device] = None) -> RandomState:
    """Return the states of the generators of Python, NumPy, torch and a GPU.

    `torch.load` can read them with `weights_only=True`.
    """
    of_numpy: Any = numpy.random.get_state(legacy=True)
    algorithm, words, position, has_gauss, gauss = of_numpy
    state: RandomState = {
        "python": random.getstate(),
        "numpy": (algorithm, words.tolist(), position, has_gauss, gauss),
        "torch": torch.get_rng_state(),
    }
    if gpu is not None:
        state["cuda"] = getattr(torch, gpu.type).get_rng_state(gpu)
    return state


def set_random_state(state: RandomState, gpu: Optional[torch.device] = None) -> None:
    """Set the generators to the states from `random_state`."""
    random.setstate(state["python"])
    numpy.random.set_state(state["numpy"])
    torch.set_rng_state(state["torch"])
    if gpu is not None and "cuda" in state:
        getattr(torch, gpu.type).set_rng_state(state["cuda"], gpu)
