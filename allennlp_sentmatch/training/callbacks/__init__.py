"""Trainer callbacks."""

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
