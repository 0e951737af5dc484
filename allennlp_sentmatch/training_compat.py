"""Patches that AllenNLP 2.10.1's trainer needs on torch 2, each with its reason.

Importing this module patches the trainer, its schedulers and callbacks; each function says what
failed. `compat.py` patches what reads data and archives.
"""

import functools
import inspect
import logging
import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Optional

import numpy
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.training import gradient_descent_trainer
from allennlp.training.callbacks import ShouldValidateCallback
from allennlp.training.learning_rate_schedulers import ReduceOnPlateauLearningRateScheduler
from allennlp.training.learning_rate_schedulers.learning_rate_scheduler import (
    _PyTorchLearningRateSchedulerWrapper,
)
from allennlp.training.moving_average import MovingAverage

from allennlp_sentmatch.files.messages import did_you_mean

logger = logging.getLogger(__name__)


def patch_reduce_on_plateau() -> None:
    """Construct `reduce_on_plateau` without `verbose`, and warn of its mode "min".

    AllenNLP passes `verbose` to torch's `ReduceLROnPlateau`, and torch 2.7 removed it: "got an
    unexpected keyword argument 'verbose'".

    The trainer negates a loss before it gives it to a scheduler, so that a larger metric is always
    better. With the mode "min", torch's and AllenNLP's default, the learning rate fell while the
    model became better, and stayed while it became worse.
    """
    plateau: Any = torch.optim.lr_scheduler.ReduceLROnPlateau
    takes_verbose = "verbose" in inspect.signature(plateau).parameters
    scheduler: Any = ReduceOnPlateauLearningRateScheduler
    construct = scheduler.__init__

    @functools.wraps(construct)  # `from_params` reads the signature
    def construct_and_warn(self: Any, *args: Any, **kwargs: Any) -> None:
        settings = inspect.signature(construct).bind(self, *args, **kwargs).arguments
        del settings["self"]
        if not takes_verbose:
            settings.pop("verbose", None)
        self.lr_scheduler = plateau(**settings)
        if self.lr_scheduler.mode == "min":
            logger.warning(
                "reduce_on_plateau: the mode 'min' lowers the learning rate while the validation "
                "metric becomes better, even if the metric is a loss, since the trainer negates "
                "losses; set the scheduler's mode to 'max'"
            )

    scheduler.__init__ = construct_and_warn


def patch_recovery() -> None:
    """Let `--recover` read a training state.

    Since torch 2.6 `torch.load` reads tensors and plain containers only. Schedulers that compute
    with NumPy (`cosine`, `slanted_triangular`) leave a `numpy.float64` in the training state, which
    `torch.load` refuses: "Unsupported global: GLOBAL numpy._core.multiarray.scalar". This allows
    the three names with which such a number is pickled; they can only make numbers.

    A recovered moving average followed the copies of the parameters in its state instead of the
    model's parameters: it never changed, and the model was not averaged.
    """
    if hasattr(torch.serialization, "add_safe_globals"):
        number = numpy.float64(0.0)
        make_scalar: Any = number.__reduce__()[0]
        torch.serialization.add_safe_globals([make_scalar, numpy.dtype, type(number.dtype)])

    def load_averages(self: Any, state_dict: dict[str, dict[str, torch.Tensor]]) -> None:
        for name, average in state_dict["shadows"].items():
            self._shadows[name].copy_(average)

    moving_average: Any = MovingAverage
    moving_average.load_state_dict = load_averages


def patch_validation_interval() -> None:
    """Keep the best weights if `should_validate_callback` skips validations.

    The callback decided on the next epoch before this epoch's weights were saved as the best, and
    the weights of an epoch without validation counted as the best: the archive contained other
    weights than the weights of `best_epoch`. After `--recover`, other epochs were validated.
    """
    callback: Any = ShouldValidateCallback

    def decide(
        self: Any,
        trainer: Any,
        *args: Any,
        is_training: bool = True,
        **kwargs: Any,
    ) -> None:
        if is_training:
            epoch = max(trainer._epochs_completed, trainer._start_after_epochs_completed)
            trainer._should_validate_this_epoch = self._should_validate(epoch)

    def on_epoch(self: Any, trainer: Any, *args: Any, **kwargs: Any) -> None:
        if not trainer._should_validate_this_epoch and trainer._validation_data_loader is not None:
            trainer._metric_tracker._is_best_so_far = False
            trainer._metric_tracker._epoch_number += 1  # it counts validations

    callback.on_start = callback.on_batch = decide
    callback.on_epoch = on_epoch


def patch_mixed_precision() -> None:
    """Enter mixed precision by its current name.

    AllenNLP enters `torch.cuda.amp.autocast` for every batch, even without mixed precision. torch
    2.4 deprecated that name and prints a `FutureWarning` in the middle of the progress bar.
    """
    if not hasattr(torch.amp, "GradScaler"):
        return

    def autocast(enabled: bool) -> torch.amp.autocast:
        return torch.amp.autocast("cuda", enabled=enabled)

    trainer: Any = gradient_descent_trainer
    trainer.amp = SimpleNamespace(autocast=autocast, GradScaler=torch.amp.GradScaler)


def patch_trainer_construction() -> None:
    """Refuse a setting that the trainer does not have, and show a model its training data.

    AllenNLP's trainer accepts any keyword, so a misspelled setting was silently ignored. So was a
    regular expression that is in no parameter's name: parameters that should have been frozen by
    `no_grad`, or have a penalty, were trained without a word. AllenNLP warns of such expressions
    only in parameter groups.

    AllenNLP gives a model only the vocabulary, whose counts may include the validation data. The
    weights "balanced" of a classifier are for the labels that it is trained with, which it finds by
    its method `prepare_training` before the trainer uses the data.

    The schedulers of transformers, such as `cosine_with_warmup`, take a step after each epoch, and
    begin at a learning rate of 0: the first epoch taught nothing, without a word.
    """
    trainer: Any = gradient_descent_trainer.GradientDescentTrainer
    construct = trainer.from_partial_objects.__func__

    @functools.wraps(construct)
    def construct_prepared(cls: type, *args: Any, **kwargs: Any) -> Any:
        functions = [construct, *(part.__init__ for part in cls.__mro__)]  # type: ignore[misc]
        known = {name for function in functions for name in inspect.signature(function).parameters}
        for name in kwargs.keys() - known:
            raise ConfigurationError(
                f"the trainer {cls.__name__} has no setting {name!r}{did_you_mean(name, known)}"
            )
        settings = inspect.signature(construct).bind(cls, *args, **kwargs).arguments
        _warn_of_unused_expressions(settings["model"], settings.get("no_grad"))
        prepare_training = getattr(settings["model"], "prepare_training", None)
        if prepare_training is not None:
            prepare_training(settings["data_loader"])
        made = construct(cls, *args, **kwargs)
        _warn_of_a_rate_of_zero(made)
        return made

    trainer.from_partial_objects = classmethod(construct_prepared)


def _warn_of_unused_expressions(model: Any, no_grad: Optional[Sequence[str]]) -> None:
    """Log a warning for each expression of `no_grad` and the regularizer in no parameter's name."""
    regularizer = getattr(model, "_regularizer", None)
    penalized = [expression for expression, _ in getattr(regularizer, "_regularizers", ())]
    names = [name for name, _ in model.named_parameters()]
    for setting, expressions in {"no_grad": no_grad or (), "regularizer": penalized}.items():
        for expression in expressions:
            if not any(re.search(expression, name) for name in names):
                logger.warning(
                    "%s: no parameter's name has %r, which therefore has no effect; the names "
                    "begin with %s",
                    setting,
                    expression,
                    ", ".join(sorted({name.split(".")[0] for name in names})),
                )


def _warn_of_a_rate_of_zero(trainer: Any) -> None:
    """Log a warning if a scheduler that takes a step after each epoch begins at a rate of 0."""
    scheduler = trainer._learning_rate_scheduler
    if not isinstance(scheduler, _PyTorchLearningRateSchedulerWrapper):
        return
    if not any(group["lr"] for group in trainer.optimizer.param_groups):
        logger.warning(
            "the learning rate of the whole first epoch is 0: %s takes a step after each epoch, so "
            "that num_warmup_steps counts epochs; the scheduler linear_with_warmup counts batches",
            type(scheduler).__name__,
        )


patch_reduce_on_plateau()
patch_recovery()
patch_validation_interval()
patch_mixed_precision()
patch_trainer_construction()
