"""A matching function without parameters as a `Matcher`."""

from typing import Callable

from torch import Tensor

from allennlp_sentmatch.modules.matchers.matcher import Matcher


class FunctionMatcher(Matcher):
    """A `Matcher` that holds a function of `allennlp_sentmatch.nn.matching`. Not registered itself.

    # Parameters

    input_size : `int`
        d, the size of each of the two vectors.
    function : `Callable[[Tensor, Tensor], Tensor]`
        From two tensors (..., d) to their features (..., num_parts * d).
    num_parts : `int`
        How many vectors of size d the function concatenates.
    """

    def __init__(
        self, input_size: int, function: Callable[[Tensor, Tensor], Tensor], num_parts: int
    ) -> None:
        super().__init__(input_size)
        self._function = function
        self._num_parts = num_parts

    def get_output_dim(self) -> int:
        """`num_parts` times the size of the input."""
        return self._num_parts * self.get_input_dim()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, each (..., d), to (..., num_parts * d)."""
        return self._function(a, b)
