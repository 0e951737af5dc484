"""An exact index."""

from typing import Any

from allennlp_sentmatch.corpus.faiss_library import faiss_library
from allennlp_sentmatch.corpus.index_kinds.index_kind import IndexKind


@IndexKind.register("flat")
class FlatKind(IndexKind):
    """Compares a query with every vector, so that the neighbors are exact.

    Registered as an `IndexKind` with name "flat".
    """

    faiss_class = "IndexFlatIP"
    magic = b"IxFI"
    read_flag = "IO_FLAG_MMAP_IFC"

    def create(self, vector_size: int, num_vectors: int) -> Any:
        """An empty index."""
        return faiss_library().IndexFlatIP(vector_size)
