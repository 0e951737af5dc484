"""The kind of index for a number of vectors."""

from allennlp_sentmatch.corpus.index_kinds.flat_kind import FlatKind
from allennlp_sentmatch.corpus.index_kinds.hnsw_kind import HnswKind
from allennlp_sentmatch.corpus.index_kinds.index_kind import IndexKind
from allennlp_sentmatch.corpus.index_kinds.ivfpq_kind import IvfPqKind

MAX_FLAT = 200_000
"""The largest number of vectors that are all compared with a query, in some 30 ms."""

MAX_HNSW = 2_000_000
"""The largest number of vectors that are linked to a graph, which takes minutes."""


def default_kind(num_vectors: int) -> IndexKind:
    """An exact index of few vectors, a graph of more, compressed lists of very many."""
    if num_vectors <= MAX_FLAT:
        return FlatKind()
    return HnswKind() if num_vectors <= MAX_HNSW else IvfPqKind()
