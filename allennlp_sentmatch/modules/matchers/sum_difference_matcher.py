"""The matcher `sum_difference`."""

from torch import Tensor

from allennlp_sentmatch.modules.matchers.matcher import Matcher
from allennlp_sentmatch.nn import matching


@Matcher.register("sum_difference")
class SumDifferenceMatcher(Matcher):
    """[a + b; |a - b|]: thesis eq. 6.25.

    Registered as a `Matcher` with name "sum_difference".
    """

    def get_output_dim(self) -> int:
        """2 times the input's size."""
        return 2 * self.get_input_dim()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, each (..., d), to (..., 2d)."""
        return matching.sum_difference(a, b)
