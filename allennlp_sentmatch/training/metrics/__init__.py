"""Metrics."""

from allennlp_sentmatch.training.metrics.distinct import Distinct

__all__ = ["Distinct"]
