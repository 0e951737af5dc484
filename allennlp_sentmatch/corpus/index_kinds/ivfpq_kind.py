"""An index of inverted lists of compressed vectors."""

from typing import Any, Optional

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.corpus.faiss_library import faiss_library
from allennlp_sentmatch.corpus.index_kinds.index_kind import IndexKind, check_positive
from allennlp_sentmatch.corpus.index_kinds.ivf_kind import IvfKind

NUM_CODES = 256
"""Of a byte."""

USUAL_CODE_SIZE = 64

MAX_PART_SIZE = 16
"""How many components a byte can stand for."""


@IndexKind.register("ivfpq")
class IvfPqKind(IvfKind):
    """Divides the vectors into lists as "ivf" does, and keeps a code of a few bytes of each.

    Jégou, Douze and Schmid 2011, "Product Quantization for Nearest Neighbor Search". The smallest
    index. The codes give candidates only, which are compared with the query by their own vectors,
    read from the file that `allennlp encode` wrote: the cosines are exact.

    Registered as an `IndexKind` with name "ivfpq".

    # Parameters

    nlist : `int`, optional (default = `None`)
        As in "ivf".
    nprobe : `int`, optional (default = `32`)
        As in "ivf".
    code_size : `int`, optional (default = `None`)
        The bytes of a vector's code, each of which stands for an equal part of the vector. By
        default, the largest number that divides the vector's size, up to 64 or a sixteenth of it.
    refine_factor : `int`, optional (default = `20`)
        How many candidates are compared exactly for each neighbor that is asked for. More find
        more of the true neighbors, and take longer. Can be changed once the index is built.

    # Raises

    `ConfigurationError` for a number below 1.
    """

    faiss_class = "IndexIVFPQ"
    magic = b"IwPQ"
    compressed = True

    def __init__(
        self,
        nlist: Optional[int] = None,
        nprobe: int = 32,
        code_size: Optional[int] = None,
        refine_factor: int = 20,
    ) -> None:
        super().__init__(nlist, nprobe)
        check_positive(refine_factor=refine_factor)
        if code_size is not None:
            check_positive(code_size=code_size)
        self._code_size = code_size
        self.refine_factor = refine_factor

    def create(self, vector_size: int, num_vectors: int) -> Any:
        """An empty index, to be trained.

        # Raises

        `ConfigurationError` if there are fewer than 256 vectors or more lists than vectors, or
        if `code_size` does not divide the vectors' size.
        """
        if num_vectors < NUM_CODES:
            raise ConfigurationError(
                f"ivfpq learns {NUM_CODES} codes from at least as many vectors, got {num_vectors}; "
                "choose the kind flat"
            )
        return super().create(vector_size, num_vectors)

    def _new_index(self, quantizer: Any, vector_size: int, nlist: int) -> Any:
        faiss = faiss_library()
        index = faiss.IndexIVFPQ(
            *(quantizer, vector_size, nlist, self._parts(vector_size), 8),
            faiss.METRIC_INNER_PRODUCT,
        )
        index.pq.cp.min_points_per_centroid = 1
        return index

    def _parts(self, vector_size: int) -> int:
        """How many parts, of a byte each, a vector of this size is divided into."""
        if self._code_size is not None:
            if vector_size % self._code_size:
                raise ConfigurationError(
                    f"code_size must divide the vectors' size, which is {vector_size}; got "
                    f"{self._code_size}"
                )
            return self._code_size
        most = min(vector_size, max(USUAL_CODE_SIZE, vector_size // MAX_PART_SIZE))
        parts = next(size for size in range(most, 0, -1) if vector_size % size == 0)
        if vector_size > parts * MAX_PART_SIZE:
            raise ConfigurationError(
                f"ivfpq cannot divide vectors of size {vector_size} into equal parts of at most "
                f"{MAX_PART_SIZE} components; choose the kind ivf or hnsw, or set code_size"
            )
        return parts

    def num_training_vectors(self, index: Any) -> int:
        """64 for each list, and enough for the codes."""
        return max(super().num_training_vectors(index), NUM_CODES * 100)
