"""Large collections of sentences: reading, encoding and searching them."""

from allennlp_sentmatch.corpus.encoding import encode_corpus
from allennlp_sentmatch.corpus.index_kinds import IndexKind
from allennlp_sentmatch.corpus.ray_encoder import RayEncoder
from allennlp_sentmatch.corpus.sentence_index import SentenceIndex
from allennlp_sentmatch.corpus.sentence_search import Neighbor, SentenceSearch
from allennlp_sentmatch.data.files.tables import read_sentences

__all__ = [
    "IndexKind",
    "Neighbor",
    "RayEncoder",
    "SentenceIndex",
    "SentenceSearch",
    "encode_corpus",
    "read_sentences",
]
