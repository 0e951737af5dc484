"""An index that is a graph of neighbors."""

from typing import Any

from allennlp_sentmatch.corpus.faiss_library import faiss_library
from allennlp_sentmatch.corpus.index_kinds.index_kind import IndexKind, check_positive


@IndexKind.register("hnsw")
class HnswKind(IndexKind):
    """Follows the links of a graph, each vector's nearest neighbors, towards the query.

    Malkov and Yashunin 2020, "Efficient and robust approximate nearest neighbor search using
    Hierarchical Navigable Small World graphs". The fastest search and the longest building; besides
    the vectors the graph takes about 8 `m` bytes each.

    Registered as an `IndexKind` with name "hnsw".

    # Parameters

    m : `int`, optional (default = `16`)
        How many neighbors a vector is linked with; twice as many on the lowest level of the graph.
    ef_construction : `int`, optional (default = `80`)
        How many candidates are kept in the search for them.
    ef_search : `int`, optional (default = `64`)
        How many candidates are kept in the search for a query's neighbors. More find more of the
        true neighbors, and take longer. Can be changed once the index is built.

    # Raises

    `ConfigurationError` for a number below 1, and for an `m` below 2.
    """

    faiss_class = "IndexHNSWFlat"
    magic = b"IHNf"
    read_flag = "IO_FLAG_MMAP_IFC"

    def __init__(self, m: int = 16, ef_construction: int = 80, ef_search: int = 64) -> None:
        check_positive(ef_construction=ef_construction, ef_search=ef_search)
        check_positive(m=m, least=2)
        self._m = m
        self._ef_construction = ef_construction
        self._ef_search = ef_search

    def create(self, vector_size: int, num_vectors: int) -> Any:
        """An empty index."""
        faiss = faiss_library()
        index = faiss.IndexHNSWFlat(vector_size, self._m, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = self._ef_construction
        return index

    def prepare_search(self, index: Any) -> None:
        """Set `ef_search`."""
        index.hnsw.efSearch = self._ef_search
