"""The matcher `heuristic_difference`."""

from allennlp_sentmatch.modules.matchers.function_matcher import FunctionMatcher
from allennlp_sentmatch.modules.matchers.matcher import Matcher
from allennlp_sentmatch.nn import matching


@Matcher.register("heuristic_difference")
class HeuristicDifferenceMatcher(FunctionMatcher):
    """[a; b; a - b; a * b]: thesis eq. 5.4, RCRN's entailment model.

    Registered as a `Matcher` with name "heuristic_difference".

    # Parameters

    input_size : `int`
        d, the size of each of the two vectors. Models fill it in.
    """

    def __init__(self, input_size: int) -> None:
        super().__init__(input_size, matching.heuristic_difference, num_parts=4)
