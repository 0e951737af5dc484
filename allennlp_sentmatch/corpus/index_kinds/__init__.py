"""The kinds of FAISS indexes that a corpus can be searched with."""

from allennlp_sentmatch.corpus.index_kinds.default_kind import default_kind
from allennlp_sentmatch.corpus.index_kinds.flat_kind import FlatKind
from allennlp_sentmatch.corpus.index_kinds.hnsw_kind import HnswKind
from allennlp_sentmatch.corpus.index_kinds.index_kind import IndexKind
from allennlp_sentmatch.corpus.index_kinds.ivf_kind import IvfKind
from allennlp_sentmatch.corpus.index_kinds.ivfpq_kind import IvfPqKind

__all__ = ["FlatKind", "HnswKind", "IndexKind", "IvfKind", "IvfPqKind", "default_kind"]
