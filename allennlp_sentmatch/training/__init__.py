"""What the papers' training and evaluation need beyond AllenNLP."""

from allennlp_sentmatch.training import metrics

__all__ = ["metrics"]
