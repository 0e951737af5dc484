"""Trainer callbacks. Three of them are among the trainer's default callbacks."""

from typing import Any

from allennlp.training import gradient_descent_trainer

from allennlp_sentmatch.training.callbacks.bleu_signature import BleuSignatureCallback
from allennlp_sentmatch.training.callbacks.constraint_update import ConstraintUpdate
from allennlp_sentmatch.training.callbacks.exact_recovery import ExactRecovery
from allennlp_sentmatch.training.callbacks.gumbel_temperature import GumbelTemperature
from allennlp_sentmatch.training.callbacks.warnings import LabelCheckCallback, ThreadCheckCallback

__all__ = [
    "BleuSignatureCallback",
    "ConstraintUpdate",
    "ExactRecovery",
    "GumbelTemperature",
    "LabelCheckCallback",
    "ThreadCheckCallback",
]

_trainer: Any = gradient_descent_trainer
_trainer.DEFAULT_CALLBACKS = (
    *_trainer.DEFAULT_CALLBACKS,
    ExactRecovery,
    LabelCheckCallback,
    ThreadCheckCallback,
)
