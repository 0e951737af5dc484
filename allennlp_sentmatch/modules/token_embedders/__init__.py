"""The `TokenEmbedder`s `cached`, `cove` and `pretrained_embedding`."""

from allennlp_sentmatch.modules.token_embedders.cached import CachedEmbedder
from allennlp_sentmatch.modules.token_embedders.cove import CoveEmbedder
from allennlp_sentmatch.modules.token_embedders.pretrained_embedding import PretrainedEmbedding

__all__ = ["CachedEmbedder", "CoveEmbedder", "PretrainedEmbedding"]
