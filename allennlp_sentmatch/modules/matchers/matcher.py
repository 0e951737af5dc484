"""The base class of matchers."""

from allennlp.common import Registrable
from allennlp.common.checks import ConfigurationError
from torch import Tensor, nn


class Matcher(nn.Module, Registrable):
    """A `Matcher` turns two vectors of the same size into the features of their relation.

    # Parameters

    input_size : `int`
        d, the size of each of the two vectors. Models fill it in from their encoder.
    """

    def __init__(self, input_size: int) -> None:
        super().__init__()
        if input_size < 1:
            raise ConfigurationError(f"input_size must be at least 1, got {input_size}")
        self._input_size = input_size

    def get_input_dim(self) -> int:
        """The size of each of the two vectors."""
        return self._input_size

    def get_output_dim(self) -> int:
        """The number of features."""
        raise NotImplementedError

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, each (..., get_input_dim()), to (..., get_output_dim())."""
        raise NotImplementedError
