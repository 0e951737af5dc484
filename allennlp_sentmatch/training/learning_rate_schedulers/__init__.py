"""Learning rate schedulers."""

from allennlp_sentmatch.training.learning_rate_schedulers.infersent_scheduler import (
    InferSentScheduler,
)

__all__ = ["InferSentScheduler"]
