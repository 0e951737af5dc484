"""The matcher `heuristic`."""

from torch import Tensor

from allennlp_sentmatch.modules.matchers.matcher import Matcher
from allennlp_sentmatch.nn import matching


@Matcher.register("heuristic")
class HeuristicMatcher(Matcher):
    """[a; b; |a - b|; a * b]: CAS-LSTM eq. 15, thesis eqs 3.27 and 6.24.

    Registered as a `Matcher` with name "heuristic".
    """

    def get_output_dim(self) -> int:
        """4 times the input's size."""
        return 4 * self.get_input_dim()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, each (..., d), to (..., 4d)."""
        return matching.heuristic(a, b)
