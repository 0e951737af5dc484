"""Vectors of texts: the encoder of an archive, its export, collections on disk and their search."""

from allennlp_sentmatch.data.files.tables import read_sentences
from allennlp_sentmatch.encoding.archive_encoder import ArchiveEncoder
from allennlp_sentmatch.encoding.corpus import encode_corpus
from allennlp_sentmatch.encoding.export import export_encoder
from allennlp_sentmatch.encoding.index_kinds import IndexKind
from allennlp_sentmatch.encoding.ray_encoder import RayEncoder
from allennlp_sentmatch.encoding.sentence_index import SentenceIndex
from allennlp_sentmatch.encoding.sentence_search import Neighbor, SentenceSearch

__all__ = [
    "ArchiveEncoder",
    "IndexKind",
    "Neighbor",
    "RayEncoder",
    "SentenceIndex",
    "SentenceSearch",
    "encode_corpus",
    "export_encoder",
    "read_sentences",
]
