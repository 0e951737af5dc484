"""An index of inverted lists."""

import math
from typing import Any, Optional

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.corpus.faiss_library import faiss_library
from allennlp_sentmatch.corpus.index_kinds.index_kind import IndexKind, check_positive

MIN_VECTORS_PER_LIST = 39
"""The number that FAISS recommends for each centroid."""

TRAINING_VECTORS_PER_LIST = 64


@IndexKind.register("ivf")
class IvfKind(IndexKind):
    """Divides the vectors into lists by the nearest centroid, and compares a query with the vectors
    of the nearest lists.

    Sivic and Zisserman 2003, "Video Google: A text retrieval approach to object matching in
    videos". The lists stay on the disk when a saved index is read.

    Registered as an `IndexKind` with name "ivf".

    # Parameters

    nlist : `int`, optional (default = `None`)
        The number of lists. By default, 4 times the square root of the number of vectors, or less
        where a list would have fewer than 39 of them.
    nprobe : `int`, optional (default = `32`)
        How many lists are compared with a query. More find more of the true neighbors, and take
        longer. Can be changed once the index is built.

    # Raises

    `ConfigurationError` for a number below 1.
    """

    faiss_class = "IndexIVFFlat"
    magic = b"IwFl"
    read_flag = "IO_FLAG_MMAP"

    def __init__(self, nlist: Optional[int] = None, nprobe: int = 32) -> None:
        check_positive(nprobe=nprobe)
        if nlist is not None:
            check_positive(nlist=nlist)
        self._nlist = nlist
        self._nprobe = nprobe

    def create(self, vector_size: int, num_vectors: int) -> Any:
        """An empty index, to be trained.

        # Raises

        `ConfigurationError` if there are more lists than vectors.
        """
        nlist = self._nlist or max(
            1, min(round(4 * math.sqrt(num_vectors)), num_vectors // MIN_VECTORS_PER_LIST)
        )
        if nlist > num_vectors:
            raise ConfigurationError(
                f"nlist must be at most the number of vectors, which is {num_vectors}; got {nlist}"
            )
        faiss = faiss_library()
        index = self._new_index(faiss.IndexFlatIP(vector_size), vector_size, nlist)
        # FAISS prints a warning where a centroid has fewer, as few as the corpus may have.
        index.cp.min_points_per_centroid = 1
        return index

    def _new_index(self, quantizer: Any, vector_size: int, nlist: int) -> Any:
        faiss = faiss_library()
        return faiss.IndexIVFFlat(quantizer, vector_size, nlist, faiss.METRIC_INNER_PRODUCT)

    def num_training_vectors(self, index: Any) -> int:
        """64 for each list."""
        return int(index.nlist) * TRAINING_VECTORS_PER_LIST

    def prepare_search(self, index: Any) -> None:
        """Set `nprobe`."""
        index.nprobe = self._nprobe
