"""A kind of FAISS index, with its settings."""

from typing import Any, ClassVar

from allennlp.common import Registrable
from allennlp.common.checks import ConfigurationError


class IndexKind(Registrable):
    """Makes FAISS indexes of one kind, for inner products of normalized vectors.

    The kinds are registered by name: "flat", "hnsw", "ivf" and "ivfpq".
    """

    faiss_class: ClassVar[str]
    """The name of FAISS's class."""

    magic: ClassVar[bytes]
    """The first bytes of a file of such an index."""

    read_flag: ClassVar[str]
    """The name of FAISS's flag for reading such a file through a memory map."""

    compressed: ClassVar[bool] = False
    """Whether the index has approximations of the vectors only."""

    refine_factor: int = 1
    """How many candidates the index is asked for to find one neighbor."""

    @classmethod
    def kind_name(cls) -> str:
        """The name that the class is registered by."""
        names = {IndexKind.by_name(name): name for name in IndexKind.list_available()}
        return names[cls]

    def create(self, vector_size: int, num_vectors: int) -> Any:
        """An empty index for `num_vectors` vectors.

        # Raises

        `ConfigurationError` where the settings do not suit these numbers.
        """
        raise NotImplementedError

    def num_training_vectors(self, index: Any) -> int:
        """How many vectors `index` learns from before vectors are added."""
        return 0

    def prepare_search(self, index: Any) -> None:
        """Apply the settings that an index can be searched with, once it is built."""


def check_positive(least: int = 1, **settings: int) -> None:
    """Raise an error for a setting that is not an integer of at least `least`."""
    for name, value in settings.items():
        if not isinstance(value, int) or value < least:
            raise ConfigurationError(
                f"{name} must be an integer of at least {least}, got {value!r}"
            )
