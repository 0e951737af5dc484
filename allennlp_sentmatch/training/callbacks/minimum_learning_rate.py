"""Stops training when the learning rate is small."""

import logging
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.training import GradientDescentTrainer, TrainerCallback

logger = logging.getLogger(__name__)


@TrainerCallback.register("minimum_learning_rate")
class MinimumLearningRate(TrainerCallback):
    """Ends training after the epoch that leaves all learning rates below a minimum.

    # Parameters

    serialization_dir : `str`
        Filled in by the trainer.
    minimum : `float`, optional (default = `1e-5`)
        The default is InferSent's.
    """

    def __init__(self, serialization_dir: str, minimum: float = 1e-5) -> None:
        super().__init__(serialization_dir)
        if minimum <= 0:
            raise ConfigurationError(f"minimum must be more than 0, got {minimum}")
        self._minimum = minimum

    def on_epoch(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Look at the learning rates of the next epoch."""
        rates = [group["lr"] for group in trainer.optimizer.param_groups]
        if max(rates) < self._minimum:
            logger.info("The learning rate is below %g: the training ends here.", self._minimum)
            # The only thing that ends AllenNLP's loop early; checked after the epoch's checkpoint.
            trainer._metric_tracker._patience = 0
