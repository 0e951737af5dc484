"""What the papers' training and evaluation need beyond AllenNLP."""

from allennlp_sentmatch.training import callbacks, checkpointers, metrics

__all__ = ["callbacks", "checkpointers", "metrics"]
