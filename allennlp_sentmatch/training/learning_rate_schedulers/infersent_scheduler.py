"""The learning rate in the training of InferSent."""

import math
from typing import Optional

from allennlp.common.checks import ConfigurationError
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.optimizers import Optimizer


@LearningRateScheduler.register("infersent")
class InferSentScheduler(LearningRateScheduler):
    """Decays the learning rate a little after each epoch, and a lot after one without progress.

    After each epoch the rate is multiplied by `decay`. Where the validation metric is not better
    than after all epochs before, it is also divided by `shrink`. With the callback
    "minimum_learning_rate" this is how InferSent is trained (Conneau, Kiela, Schwenk, Barrault and
    Bordes 2017, https://arxiv.org/abs/1705.02364, section 3.3).

    Registered as a `LearningRateScheduler` with name "infersent".

    # Parameters

    optimizer : `Optimizer`
        Filled in by the trainer.
    decay : `float`, optional (default = `0.99`)
        More than 0, at most 1.
    shrink : `float`, optional (default = `5.0`)
        At least 1.
    last_epoch : `int`, optional (default = `-1`)
    """

    def __init__(
        self, optimizer: Optimizer, decay: float = 0.99, shrink: float = 5.0, last_epoch: int = -1
    ) -> None:
        super().__init__(optimizer, last_epoch)
        if not 0 < decay <= 1:
            raise ConfigurationError(f"decay must be more than 0 and at most 1, got {decay}")
        if not 1 <= shrink < math.inf:
            raise ConfigurationError(f"shrink must be at least 1, got {shrink}")
        self.decay = decay
        self.shrink = shrink
        self.best = -math.inf
        self.factor = 1.0
        """The factor of the initial learning rates."""

    def get_values(self) -> list[float]:
        """The learning rates for the next epoch."""
        return [value * self.factor for value in self.base_values]

    def step(self, metric: Optional[float] = None) -> None:
        """Set the learning rates for the next epoch.

        # Parameters

        metric : `float`
            The validation metric of the epoch; more is better: the trainer changes the sign
            otherwise.

        # Raises

        `ConfigurationError` without a metric.
        """
        if metric is None:
            raise ConfigurationError(
                "the learning rate scheduler 'infersent' needs validation data, whose metric "
                "decides on the learning rate"
            )
        if metric > self.best:
            self.best = metric
        else:
            self.factor /= self.shrink
        self.factor *= self.decay
        super().step(metric)
