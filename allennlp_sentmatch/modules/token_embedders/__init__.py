"""The `TokenEmbedder` `cove`."""

from allennlp_sentmatch.modules.token_embedders.cove_embedder import CoveEmbedder

__all__ = ["CoveEmbedder"]
