"""The `TokenEmbedder`s `cached` and `cove`."""

from allennlp_sentmatch.modules.token_embedders.cached_embedder import CachedEmbedder
from allennlp_sentmatch.modules.token_embedders.cove_embedder import CoveEmbedder

__all__ = ["CachedEmbedder", "CoveEmbedder"]
