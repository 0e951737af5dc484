"""The matcher `heuristic_difference`."""

from torch import Tensor

from allennlp_sentmatch.modules.matchers.matcher import Matcher
from allennlp_sentmatch.nn import matching


@Matcher.register("heuristic_difference")
class HeuristicDifferenceMatcher(Matcher):
    """[a; b; a - b; a * b]: thesis eq. 5.4, RCRN's entailment model.

    Registered as a `Matcher` with name "heuristic_difference".
    """

    def get_output_dim(self) -> int:
        """4 times the input's size."""
        return 4 * self.get_input_dim()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, each (..., d), to (..., 4d)."""
        return matching.heuristic_difference(a, b)
