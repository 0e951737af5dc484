"""Attention weights over sentences of different lengths."""

from allennlp_sentmatch.nn.ops.common.masked_softmax import masked_softmax

__all__ = ["masked_softmax"]
