"""The matcher `heuristic`."""

from allennlp_sentmatch.modules.matchers.function_matcher import FunctionMatcher
from allennlp_sentmatch.modules.matchers.matcher import Matcher
from allennlp_sentmatch.nn import matching


@Matcher.register("heuristic")
class HeuristicMatcher(FunctionMatcher):
    """[a; b; |a - b|; a * b]: CAS-LSTM eq. 15, thesis eqs 3.27 and 6.24.

    Registered as a `Matcher` with name "heuristic".

    # Parameters

    input_size : `int`
        d, the size of each of the two vectors. Models fill it in.
    """

    def __init__(self, input_size: int) -> None:
        super().__init__(input_size, matching.heuristic, num_parts=4)
