"""The kinds of FAISS indexes that a corpus can be searched with, each a preset of FAISS's factory.

See https://github.com/facebookresearch/faiss/wiki/The-index-factory.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

from allennlp_sentmatch.files.folders import errors_name
from allennlp_sentmatch.nn.checks import COUNT, Kind, integer, optional, read_settings

MAX_FLAT = 200_000  # up to this many, a query is compared with all vectors, which takes some 30 ms
MAX_HNSW = 2_000_000  # up to this many, the vectors are linked in a graph, which takes minutes
MIN_VECTORS_PER_LIST = 39  # the number that FAISS recommends for each centroid
TRAINING_VECTORS_PER_LIST = 64
NUM_CODES = 256  # numbers in a byte
USUAL_CODE_SIZE = 64
MAX_PART_SIZE = 16  # components in one byte of a code, at most


class _Row(NamedTuple):
    """What FAISS calls the parts of a kind, and how it behaves."""

    magic: bytes  # the first bytes of an index's file
    factory: str  # the argument of `faiss.index_factory`, with places for settings
    settings: dict[str, Optional[int]]  # their defaults; `None` if they depend on the vectors
    search_parameters: str = ""  # the settings of a built index, for FAISS's `ParameterSpace`
    compressed: bool = False  # whether the index has approximations of the vectors only
    depends_on_count: bool = False  # whether asking for more neighbors may change the first ones
    num_training_vectors: int = 0  # the fewest vectors to train on before any is added


KINDS = {
    "flat": _Row(b"IxFI", "Flat", {}),
    "hnsw": _Row(
        b"IHNf",
        "HNSW{m}",
        {"m": 16, "ef_construction": 80, "ef_search": 64},
        "efSearch={ef_search}",
        depends_on_count=True,
    ),
    "ivf": _Row(b"IwFl", "IVF{nlist},Flat", {"nlist": None, "nprobe": 32}, "nprobe={nprobe}"),
    # "np" skips the training for Hamming distances: it takes half a minute, and searches do not use
    # them.
    "ivfpq": _Row(
        b"IwPQ",
        "IVF{nlist},PQ{code_size}x8np",
        {"nlist": None, "nprobe": 32, "code_size": None, "refine_factor": 20},
        "nprobe={nprobe}",
        compressed=True,
        depends_on_count=True,
        num_training_vectors=NUM_CODES * 100,
    ),
}


def _kind_of(setting: str, default: Optional[int]) -> Kind:
    """Return what a setting may be, in the table of `KINDS` with this default."""
    kind = integer(least=2) if setting == "m" else COUNT
    return optional(kind) if default is None else kind


def faiss_library() -> Any:
    """Return the module `faiss`, or raise `ValueError` if it is not installed."""
    try:
        import faiss
    except ImportError as error:
        raise ValueError("this needs the extra [search]: pip install faiss-cpu") from error
    return faiss


class IndexKind:
    """Makes FAISS indexes of one kind, for inner products of normalized vectors.

    - "flat" compares a query with every vector, so that the neighbors are exact.
    - "hnsw" follows the links of a graph, each vector's nearest neighbors, towards the query
      (Malkov and Yashunin 2020, https://arxiv.org/abs/1603.09320). In addition to the vectors,
      the graph takes about 8 `m` bytes for each of them.
    - "ivf" divides the vectors into lists by the nearest centroid, and compares a query with the
      vectors of the nearest lists (Sivic and Zisserman 2003, "Video Google: A text retrieval
      approach to object matching in videos").
    - "ivfpq" divides them as "ivf" does, and keeps a code of a few bytes of each (Jégou, Douze and
      Schmid 2011, "Product Quantization for Nearest Neighbor Search"). The codes give candidates,
      which are compared with the query by their own vectors: the cosines are exact.

    # Parameters

    name : `str`
    settings : `Mapping[str, int]`, optional (default = `{}`)
        The settings of the kind:

        - `m` ("hnsw"; default 16): how many neighbors a vector is linked with; twice as many on the
          lowest level of the graph.
        - `ef_construction`, `ef_search` ("hnsw"; 80, 64): how many candidates are kept in the
          search for these neighbors, and for a query's.
        - `nlist` ("ivf", "ivfpq"): the number of lists. By default, 4 times the square root of the
          number of vectors, or less if a list would have fewer than 39 of them.
        - `nprobe` ("ivf", "ivfpq"; 32): how many lists are compared with a query.
        - `code_size` ("ivfpq"): the bytes of a vector's code, which encode equal parts of it. By
          default, the largest number that divides the vector's size, up to 64 or a sixteenth of it.
        - `refine_factor` ("ivfpq"; 20): the candidates that are compared for each neighbor.

        `ef_search`, `nprobe` and `refine_factor` can be changed once an index is built: more find
        more of the true neighbors, and take longer.

    # Raises

    `ValueError` for an unknown name or setting, a number below 1, and an `m` below 2.
    """

    def __init__(self, name: str, settings: Optional[Mapping[str, Optional[int]]] = None) -> None:
        if not isinstance(name, str) or name not in KINDS:
            raise ValueError(f"expected one of {[*KINDS]} as the kind, got {name!r}")
        self.name = name
        self.row = KINDS[name]
        defaults = self.row.settings
        kinds = {setting: _kind_of(setting, default) for setting, default in defaults.items()}
        with errors_name(name):
            self.settings = read_settings({**defaults, **(settings or {})}, kinds)

    @property
    def refine_factor(self) -> int:
        """The number of candidates that the index is asked for to find one neighbor."""
        return self.settings.get("refine_factor") or 1

    def create(self, vector_size: int, num_vectors: int) -> Any:
        """Return an empty index for `num_vectors` vectors.

        Raise `ValueError` if the settings do not fit: more lists than vectors, a `code_size` that
        does not divide the vectors' size, or fewer than 256 vectors for codes.
        """
        settings = dict(self.settings)
        if "nlist" in settings:
            settings["nlist"] = self._nlist(num_vectors)
        if "code_size" in settings:
            settings["code_size"] = self._code_size(vector_size, num_vectors)
        description = self.row.factory.format(**settings)
        faiss = faiss_library()
        try:
            index = faiss.index_factory(vector_size, description, faiss.METRIC_INNER_PRODUCT)
        except RuntimeError as error:
            raise ValueError(f"FAISS cannot make {description}: {error}") from error
        if "ef_construction" in settings:
            index.hnsw.efConstruction = settings["ef_construction"]
        for part in (index, getattr(index, "pq", index)):
            # FAISS would print a warning if a centroid had fewer; a corpus may be small.
            if hasattr(part, "cp"):
                part.cp.min_points_per_centroid = 1
        return index

    def prepare_search(self, index: Any) -> None:
        """Apply the settings for searching to a built index: `ef_search` or `nprobe`."""
        if self.row.search_parameters:
            parameters = self.row.search_parameters.format(**self.settings)
            faiss_library().ParameterSpace().set_index_parameters(index, parameters)

    def _nlist(self, num_vectors: int) -> int:
        """Return the number of lists for `num_vectors` vectors; raise `ValueError` for too many."""
        usual = min(round(4 * math.sqrt(num_vectors)), num_vectors // MIN_VECTORS_PER_LIST)
        nlist = self.settings["nlist"] or max(1, usual)
        if nlist > num_vectors:
            raise ValueError(
                f"nlist must be at most the number of vectors, which is {num_vectors}; got {nlist}"
            )
        return nlist

    def _code_size(self, vector_size: int, num_vectors: int) -> int:
        """Return the bytes of a vector's code.

        Raise `ValueError` for too few vectors to learn codes from, and if the vectors cannot be
        divided into as many equal parts.
        """
        if num_vectors < NUM_CODES:
            raise ValueError(
                f"ivfpq learns {NUM_CODES} codes from at least as many vectors, got {num_vectors}; "
                "choose the kind flat"
            )
        chosen = self.settings["code_size"]
        most = min(vector_size, max(USUAL_CODE_SIZE, vector_size // MAX_PART_SIZE))
        usual = max(size for size in range(1, most + 1) if vector_size % size == 0)
        if chosen is None and vector_size > usual * MAX_PART_SIZE:
            raise ValueError(
                f"ivfpq cannot divide vectors of size {vector_size} into equal parts of at most "
                f"{MAX_PART_SIZE} components; choose the kind ivf or hnsw, or set code_size"
            )
        code_size = chosen or usual
        if vector_size % code_size:
            raise ValueError(
                f"code_size must divide the vectors' size, which is {vector_size}; got {code_size}"
            )
        return code_size


def default_kind(num_vectors: int) -> IndexKind:
    """Return an exact index of few vectors, a graph of more, compressed lists of very many."""
    if num_vectors <= MAX_FLAT:
        return IndexKind("flat")
    return IndexKind("hnsw" if num_vectors <= MAX_HNSW else "ivfpq")
