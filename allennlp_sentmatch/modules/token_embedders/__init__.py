"""The `TokenEmbedder`s `cached`, `cove`, `exported_encoder` and `pretrained_embedding`."""

from allennlp_sentmatch.modules.token_embedders.cached import CachedEmbedder
from allennlp_sentmatch.modules.token_embedders.cove import CoveEmbedder
from allennlp_sentmatch.modules.token_embedders.exported_encoder import ExportedEncoderEmbedder
from allennlp_sentmatch.modules.token_embedders.pretrained_embedding import PretrainedEmbedding

__all__ = ["CachedEmbedder", "CoveEmbedder", "ExportedEncoderEmbedder", "PretrainedEmbedding"]
