"""Tokenizers, token indexers, fields, files, dataset readers and data loaders."""

from allennlp_sentmatch.data import (
    data_loaders,
    dataset_readers,
    fields,
    files,
    token_indexers,
    tokenizers,
)

__all__ = ["data_loaders", "dataset_readers", "fields", "files", "token_indexers", "tokenizers"]
