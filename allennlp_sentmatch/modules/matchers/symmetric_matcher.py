"""The matcher `symmetric`."""

from torch import Tensor

from allennlp_sentmatch.modules.matchers.matcher import Matcher
from allennlp_sentmatch.nn import matching


@Matcher.register("symmetric")
class SymmetricMatcher(Matcher):
    """[|a - b|; a * b]: CAS-LSTM eq. 16, thesis eq. 5.5.

    Registered as a `Matcher` with name "symmetric".
    """

    def get_output_dim(self) -> int:
        """2 times the input's size."""
        return 2 * self.get_input_dim()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, each (..., d), to (..., 2d)."""
        return matching.symmetric(a, b)
