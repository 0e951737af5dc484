"""Trainer callbacks."""

from allennlp_sentmatch.training.callbacks.exact_recovery import ExactRecovery

__all__ = ["ExactRecovery"]
