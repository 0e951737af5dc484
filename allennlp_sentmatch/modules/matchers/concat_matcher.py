"""The matcher `concat`."""

from torch import Tensor

from allennlp_sentmatch.modules.matchers.matcher import Matcher
from allennlp_sentmatch.nn import matching


@Matcher.register("concat")
class ConcatMatcher(Matcher):
    """[a; b]: the vectors themselves (thesis table 5.1).

    Registered as a `Matcher` with name "concat".
    """

    def get_output_dim(self) -> int:
        """2 times the input's size."""
        return 2 * self.get_input_dim()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, each (..., d), to (..., 2d)."""
        return matching.concat(a, b)
