"""Metrics, trainers, optimizers, learning rate schedulers, trainer callbacks and checkpointers."""

from allennlp_sentmatch.training import (
    callbacks,
    checkpointers,
    learning_rate_schedulers,
    metrics,
    optimizers,
    trainers,
)

__all__ = [
    "callbacks",
    "checkpointers",
    "learning_rate_schedulers",
    "metrics",
    "optimizers",
    "trainers",
]
