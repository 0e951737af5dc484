"""Trainer callbacks. Three of them are among the trainer's default callbacks."""

from typing import Any

from allennlp.training import gradient_descent_trainer

from allennlp_sentmatch.training.callbacks.bfloat16_products import Bfloat16ProductsCallback
from allennlp_sentmatch.training.callbacks.bleu_signature import BleuSignatureCallback
from allennlp_sentmatch.training.callbacks.constraint_update import ConstraintUpdate
from allennlp_sentmatch.training.callbacks.exact_recovery import ExactRecovery
from allennlp_sentmatch.training.callbacks.label_check import LabelCheckCallback
from allennlp_sentmatch.training.callbacks.minimum_learning_rate import MinimumLearningRate
from allennlp_sentmatch.training.callbacks.thread_check import ThreadCheckCallback

__all__ = [
    "Bfloat16ProductsCallback",
    "BleuSignatureCallback",
    "ConstraintUpdate",
    "ExactRecovery",
    "LabelCheckCallback",
    "MinimumLearningRate",
    "ThreadCheckCallback",
]

_trainer: Any = gradient_descent_trainer
_trainer.DEFAULT_CALLBACKS = (
    *_trainer.DEFAULT_CALLBACKS,
    ExactRecovery,
    LabelCheckCallback,
    ThreadCheckCallback,
)
