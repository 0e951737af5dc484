"""Tokenizers, dataset readers and data loaders."""

from allennlp_sentmatch.data import dataset_readers, tokenizers

__all__ = ["dataset_readers", "tokenizers"]
