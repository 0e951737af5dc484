"""Trainer callbacks."""

from allennlp_sentmatch.training.callbacks.exact_recovery import ExactRecovery
from allennlp_sentmatch.training.callbacks.label_check import LabelCheckCallback

__all__ = ["ExactRecovery", "LabelCheckCallback"]
