"""Texts in large numbers: their vectors on disk, indexes, search and duplicates.

Whatever has a method `encode` may be the encoder.
"""

from allennlp_sentmatch.corpora.corpus import encode_corpus
from allennlp_sentmatch.corpora.duplicates import find_duplicates
from allennlp_sentmatch.corpora.index_kinds import IndexKind
from allennlp_sentmatch.corpora.ray_encoder import RayEncoder
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.corpora.sentence_index import SentenceIndex
from allennlp_sentmatch.corpora.sentence_search import Neighbor, SentenceSearch

__all__ = [
    "IndexKind",
    "Neighbor",
    "RayEncoder",
    "SentenceEncoder",
    "SentenceIndex",
    "SentenceSearch",
    "encode_corpus",
    "find_duplicates",
]
