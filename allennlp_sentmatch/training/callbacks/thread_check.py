"""A warning about training runs that share too few cores."""

import logging
import os
from typing import Any

import torch
from allennlp.training import GradientDescentTrainer, TrainerCallback

logger = logging.getLogger(__name__)

CROWDED = 1.25
"""The number of runnable threads for each core that is too many."""


@TrainerCallback.register("thread_check")
class ThreadCheckCallback(TrainerCallback):
    """Warns once if the threads of this training run and of other processes need more cores than
    the machine has.

    The threads of a run synchronize many times in each step: if one of them has to wait for a core,
    all of them do, and training may become several times slower. Runs with one thread each do not
    have this problem.

    The load of the last minute is checked when training begins and after each epoch, because
    another run may begin at the same time or later. It is one of the trainer's default callbacks
    (`enable_default_callbacks`), and checks runs on a CPU with more than one thread.
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._has_warned = False

    def on_start(
        self, trainer: GradientDescentTrainer, is_primary: bool = True, **kwargs: Any
    ) -> None:
        """Add this training's threads to the load, of which one has been reading the data."""
        super().on_start(trainer, is_primary, **kwargs)
        self._check(trainer, is_primary, others=_load() - 1)

    def on_epoch(
        self,
        trainer: GradientDescentTrainer,
        metrics: dict[str, Any],
        epoch: int,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        """Look at the load, which includes this training's threads."""
        self._check(trainer, is_primary, others=_load() - torch.get_num_threads())

    def _check(self, trainer: GradientDescentTrainer, is_primary: bool, others: float) -> None:
        own = torch.get_num_threads()
        cores = os.cpu_count() or 1
        on_cpu = torch.device(trainer.cuda_device).type == "cpu"
        if self._has_warned or not is_primary or not on_cpu or own == 1:
            return
        if own + others > CROWDED * cores:
            self._has_warned = True
            logger.warning(
                "%d threads of this training and about %.0f of other processes share %d cores: "
                "threads that wait for each other can make all of them several times slower. Set "
                "OMP_NUM_THREADS=1 in the environment of each training that runs next to others.",
                *(own, others, cores),
            )


def _load() -> float:
    """The number of runnable threads on this machine, on average over the last minute."""
    return os.getloadavg()[0]
