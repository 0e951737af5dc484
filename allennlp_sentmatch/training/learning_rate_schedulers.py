"""Learning rate schedulers, and a callback that ends training at a minimum."""

import logging
import math
from typing import Any, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.training import GradientDescentTrainer, TrainerCallback
from allennlp.training.learning_rate_schedulers import LearningRateScheduler, PolynomialDecay
from allennlp.training.optimizers import Optimizer

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.nn.checks import POSITIVE, SHARE, check_kind, number

logger = logging.getLogger(__name__)


@LearningRateScheduler.register("cosine_per_batch")
class CosinePerBatchScheduler(PolynomialDecay):
    """Lowers the learning rate to zero along a cosine, a step after each batch.

    After t batches the rate is `lr * (1 + cos(pi * t / T)) / 2`: equation 5 of Loshchilov and
    Hutter (2017, https://arxiv.org/abs/1608.03983) without restarts and with a minimum of zero.
    AllenNLP's "cosine" takes a step after each epoch. After T batches the rate rises again.

    # Parameters

    num_steps_per_epoch : `int`, optional (default = `None`)
        Filled in by the trainer, unless the data loader is lazy and has no `batches_per_epoch`.
    t_initial : `float`, optional (default = `num_epochs`)
        The number of epochs that have T batches; positive, but not necessarily whole.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        num_epochs: int,
        num_steps_per_epoch: Optional[int] = None,
        t_initial: Optional[float] = None,
    ) -> None:
        if num_steps_per_epoch is None:
            raise ConfigurationError(
                "the learning rate scheduler 'cosine_per_batch' needs the number of batches in an "
                "epoch; set batches_per_epoch in the data loader"
            )
        epochs: Any = num_epochs if t_initial is None else t_initial
        with configuration_errors():
            check_kind(POSITIVE, t_initial=epochs)
        super().__init__(optimizer, epochs, num_steps_per_epoch)

    def get_values(self) -> list[float]:
        """Return the learning rates for the next batch."""
        factor = (1 + math.cos(math.pi * self.steps / self.total_steps)) / 2
        return [value * factor for value in self.base_values]


@LearningRateScheduler.register("infersent")
class InferSentScheduler(LearningRateScheduler):
    """Reduces the learning rate slightly after each epoch, and strongly without progress.

    After each epoch the rate is multiplied by `decay`. If the validation metric is not better than
    after all earlier epochs, it is also divided by `shrink`. With the callback
    "minimum_learning_rate" this is how InferSent is trained (Conneau, Kiela, Schwenk, Barrault and
    Bordes 2017, https://arxiv.org/abs/1705.02364, section 3.3).

    # Parameters

    decay : `float`, optional (default = `0.99`)
        More than 0, at most 1.
    shrink : `float`, optional (default = `5.0`)
        At least 1.
    """

    def __init__(self, optimizer: Optimizer, decay: float = 0.99, shrink: float = 5.0) -> None:
        super().__init__(optimizer)
        with configuration_errors():
            check_kind(SHARE, decay=decay)
            check_kind(number(least=1), shrink=shrink)
        self.decay = decay
        self.shrink = shrink
        self.best = -math.inf
        self.factor = 1.0
        """The factor of the initial learning rates."""

    def get_values(self) -> list[float]:
        """Return the learning rates for the next epoch."""
        return [value * self.factor for value in self.base_values]

    def step(self, metric: Optional[float] = None) -> None:
        """Set the learning rates for the next epoch.

        The `metric` is the last epoch's validation metric, and a higher one is better: the trainer
        changes the sign otherwise. Without one, this raises a `ConfigurationError`.
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


@TrainerCallback.register("minimum_learning_rate")
class MinimumLearningRate(TrainerCallback):
    """Ends training after the epoch that leaves all learning rates below a minimum.

    # Parameters

    minimum : `float`, optional (default = `1e-5`)
        The default is InferSent's.
    """

    def __init__(self, serialization_dir: str, minimum: float = 1e-5) -> None:
        super().__init__(serialization_dir)
        with configuration_errors():
            check_kind(POSITIVE, minimum=minimum)
        self._minimum = minimum

    def on_start(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Do not train further if a recovered training had ended."""
        epochs = trainer._start_after_epochs_completed
        if epochs and not trainer._start_after_batches_in_epoch_completed and self._ends(trainer):
            trainer._num_epochs = epochs

    def on_epoch(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Check the learning rates of the next epoch."""
        if self._ends(trainer):
            logger.info("The learning rate is below %g: the training ends here.", self._minimum)
            # Only this ends AllenNLP's loop early; it is checked after the epoch's checkpoint.
            trainer._metric_tracker._patience = 0

    def _ends(self, trainer: GradientDescentTrainer) -> bool:
        return all(group["lr"] < self._minimum for group in trainer.optimizer.param_groups)
