"""The kinds of FAISS indexes that a corpus can be searched with, each a preset of FAISS's factory.

See https://github.com/facebookresearch/faiss/wiki/The-index-factory.
"""

import math
from typing import Any, ClassVar, Optional

from allennlp.common import Registrable
from allennlp.common.checks import ConfigurationError

MAX_FLAT = 200_000
"""The largest number of vectors that are all compared with a query, in some 30 ms."""

MAX_HNSW = 2_000_000
"""The largest number of vectors that are linked to a graph, which takes minutes."""

MIN_VECTORS_PER_LIST = 39
"""The number that FAISS recommends for each centroid."""

TRAINING_VECTORS_PER_LIST = 64

NUM_CODES = 256
"""Of a byte."""

USUAL_CODE_SIZE = 64

MAX_PART_SIZE = 16
"""The number of components that a byte can stand for."""


def faiss_library() -> Any:
    """The module `faiss`; a `ConfigurationError` if it is not installed."""
    try:
        import faiss
    except ImportError as error:
        raise ConfigurationError(
            "searching needs the extra [search]: pip install faiss-cpu"
        ) from error
    return faiss


class IndexKind(Registrable):
    """Makes FAISS indexes of one kind, for inner products of normalized vectors.

    The kinds are registered by name: "flat", "hnsw", "ivf" and "ivfpq".
    """

    magic: ClassVar[bytes]
    """The first bytes of a file of such an index."""

    read_flag: ClassVar[str] = "IO_FLAG_MMAP_IFC"
    """The name of FAISS's flag for reading such a file through a memory map."""

    compressed: ClassVar[bool] = False
    """Whether the index has approximations of the vectors only."""

    depends_on_count: ClassVar[bool] = False
    """Whether an index that is asked for more neighbors may find other ones."""

    refine_factor: int = 1
    """The number of candidates that the index is asked for to find one neighbor."""

    search_parameters: str = ""
    """The settings that a built index can be searched with, for FAISS's `ParameterSpace`."""

    num_training_vectors: ClassVar[int] = 0
    """The least number of vectors that the index learns from before vectors are added."""

    @classmethod
    def kind_name(cls) -> str:
        """The name that the class is registered by."""
        return next(name for name in IndexKind.list_available() if IndexKind.by_name(name) is cls)

    def description(self, vector_size: int, num_vectors: int) -> str:
        """The argument of `faiss.index_factory` for an index of this many vectors.

        A `ConfigurationError` says which settings do not suit these numbers.
        """
        raise NotImplementedError

    def create(self, vector_size: int, num_vectors: int) -> Any:
        """An empty index for `num_vectors` vectors; see `description`."""
        faiss = faiss_library()
        description = self.description(vector_size, num_vectors)
        try:
            index = faiss.index_factory(vector_size, description, faiss.METRIC_INNER_PRODUCT)
        except RuntimeError as error:
            raise ConfigurationError(f"FAISS cannot make {description}: {error}") from error
        for part in (index, getattr(index, "pq", index)):
            # FAISS prints a warning where a centroid has fewer, as few as the corpus may have.
            if hasattr(part, "cp"):
                part.cp.min_points_per_centroid = 1
        return index

    def prepare_search(self, index: Any) -> None:
        """Apply the settings that an index can be searched with, once it is built."""
        if self.search_parameters:
            faiss_library().ParameterSpace().set_index_parameters(index, self.search_parameters)


@IndexKind.register("flat")
class FlatKind(IndexKind):
    """Compares a query with every vector, so that the neighbors are exact."""

    magic = b"IxFI"

    def description(self, vector_size: int, num_vectors: int) -> str:
        """Vectors as they are."""
        return "Flat"


@IndexKind.register("hnsw")
class HnswKind(IndexKind):
    """Follows the links of a graph, each vector's nearest neighbors, towards the query.

    Malkov and Yashunin 2020, "Efficient and robust approximate nearest neighbor search using
    Hierarchical Navigable Small World graphs". The fastest search and the longest building; besides
    the vectors the graph takes about 8 `m` bytes each.

    # Parameters

    m : `int`, optional (default = `16`)
        How many neighbors a vector is linked with; twice as many on the lowest level of the graph.
    ef_construction : `int`, optional (default = `80`)
        How many candidates are kept in the search for them.
    ef_search : `int`, optional (default = `64`)
        How many candidates are kept in the search for a query's neighbors. More find more of the
        true neighbors, and take longer. Can be changed once the index is built.

    A number below 1, and an `m` below 2, is a `ConfigurationError`.
    """

    magic = b"IHNf"
    depends_on_count = True

    def __init__(self, m: int = 16, ef_construction: int = 80, ef_search: int = 64) -> None:
        _check_positive(ef_construction=ef_construction, ef_search=ef_search)
        _check_positive(m=m, least=2)
        self._m = m
        self._ef_construction = ef_construction
        self.search_parameters = f"efSearch={ef_search}"

    def description(self, vector_size: int, num_vectors: int) -> str:
        """The graph, with the vectors as they are."""
        return f"HNSW{self._m}"

    def create(self, vector_size: int, num_vectors: int) -> Any:
        """An empty index with the graph's settings."""
        index = super().create(vector_size, num_vectors)
        index.hnsw.efConstruction = self._ef_construction
        return index


@IndexKind.register("ivf")
class IvfKind(IndexKind):
    """Divides the vectors into lists by the nearest centroid, and compares a query with the vectors
    of the nearest lists.

    Sivic and Zisserman 2003, "Video Google: A text retrieval approach to object matching in
    videos". The lists stay on the disk when a saved index is read.

    # Parameters

    nlist : `int`, optional (default = `None`)
        The number of lists. By default, 4 times the square root of the number of vectors, or less
        where a list would have fewer than 39 of them.
    nprobe : `int`, optional (default = `32`)
        How many lists are compared with a query. More find more of the true neighbors, and take
        longer. Can be changed once the index is built.

    A number below 1 is a `ConfigurationError`.
    """

    magic = b"IwFl"
    read_flag = "IO_FLAG_MMAP"

    def __init__(self, nlist: Optional[int] = None, nprobe: int = 32) -> None:
        _check_positive(nprobe=nprobe, nlist=1 if nlist is None else nlist)
        self._nlist = nlist
        self.search_parameters = f"nprobe={nprobe}"

    def description(self, vector_size: int, num_vectors: int) -> str:
        """The lists, and what they have of the vectors."""
        codes = self._codes(vector_size, num_vectors)
        nlist = self._nlist or max(
            1, min(round(4 * math.sqrt(num_vectors)), num_vectors // MIN_VECTORS_PER_LIST)
        )
        if nlist > num_vectors:
            raise ConfigurationError(
                f"nlist must be at most the number of vectors, which is {num_vectors}; got {nlist}"
            )
        return f"IVF{nlist},{codes}"

    def _codes(self, vector_size: int, num_vectors: int) -> str:
        """The form in which the lists have the vectors."""
        return "Flat"


@IndexKind.register("ivfpq")
class IvfPqKind(IvfKind):
    """Divides the vectors into lists as "ivf" does, and keeps a code of a few bytes of each.

    Jégou, Douze and Schmid 2011, "Product Quantization for Nearest Neighbor Search". The smallest
    index. The codes give candidates only, which are compared with the query by their own vectors,
    read from the file that `allennlp encode` wrote: the cosines are exact.

    # Parameters

    nlist, nprobe : optional
        As in "ivf".
    code_size : `int`, optional (default = `None`)
        The bytes of a vector's code, each of which stands for an equal part of the vector. By
        default, the largest number that divides the vector's size, up to 64 or a sixteenth of it.
    refine_factor : `int`, optional (default = `20`)
        How many candidates are compared exactly for each neighbor that is asked for. More find
        more of the true neighbors, and take longer. Can be changed once the index is built.

    # Raises

    `ConfigurationError` for a number below 1; from `create` if there are fewer than 256 vectors or
    more lists than vectors, or if `code_size` does not divide the vectors' size.
    """

    magic = b"IwPQ"
    compressed = True
    depends_on_count = True
    num_training_vectors = NUM_CODES * 100

    def __init__(
        self,
        nlist: Optional[int] = None,
        nprobe: int = 32,
        code_size: Optional[int] = None,
        refine_factor: int = 20,
    ) -> None:
        super().__init__(nlist, nprobe)
        _check_positive(
            refine_factor=refine_factor, code_size=1 if code_size is None else code_size
        )
        self._code_size = code_size
        self.refine_factor = refine_factor

    def _codes(self, vector_size: int, num_vectors: int) -> str:
        """A byte for each part of a vector."""
        if num_vectors < NUM_CODES:
            raise ConfigurationError(
                f"ivfpq learns {NUM_CODES} codes from at least as many vectors, got {num_vectors}; "
                "choose the kind flat"
            )
        most = min(vector_size, max(USUAL_CODE_SIZE, vector_size // MAX_PART_SIZE))
        usual = next(size for size in range(most, 0, -1) if vector_size % size == 0)
        if self._code_size is None and vector_size > usual * MAX_PART_SIZE:
            raise ConfigurationError(
                f"ivfpq cannot divide vectors of size {vector_size} into equal parts of at most "
                f"{MAX_PART_SIZE} components; choose the kind ivf or hnsw, or set code_size"
            )
        code_size = self._code_size or usual
        if vector_size % code_size:
            raise ConfigurationError(
                f"code_size must divide the vectors' size, which is {vector_size}; got {code_size}"
            )
        # "np": the training for Hamming distances, which searches do not use, takes half a minute.
        return f"PQ{code_size}x8np"


def default_kind(num_vectors: int) -> IndexKind:
    """An exact index of few vectors, a graph of more, compressed lists of very many."""
    if num_vectors <= MAX_FLAT:
        return FlatKind()
    return HnswKind() if num_vectors <= MAX_HNSW else IvfPqKind()


def _check_positive(least: int = 1, **settings: int) -> None:
    for name, value in settings.items():
        if not isinstance(value, int) or value < least:
            raise ConfigurationError(
                f"{name} must be an integer of at least {least}, got {value!r}"
            )
