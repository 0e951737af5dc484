"""Metrics, trainer callbacks and checkpointers."""

from allennlp_sentmatch.training import callbacks, checkpointers, metrics

__all__ = ["callbacks", "checkpointers", "metrics"]
