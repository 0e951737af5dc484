"""Metrics, trainers, trainer callbacks and checkpointers."""

from allennlp_sentmatch.training import callbacks, checkpointers, metrics, trainers

__all__ = ["callbacks", "checkpointers", "metrics", "trainers"]
