"""Checkpointers."""

from allennlp_sentmatch.training.checkpointers.atomic_checkpointer import AtomicCheckpointer

__all__ = ["AtomicCheckpointer"]
