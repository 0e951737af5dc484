"""Tokenizers, fields, files, dataset readers and data loaders."""

from allennlp_sentmatch.data import data_loaders, dataset_readers, fields, files, tokenizers

__all__ = ["data_loaders", "dataset_readers", "fields", "files", "tokenizers"]
