"""The matcher `sum_difference`."""

from allennlp_sentmatch.modules.matchers.function_matcher import FunctionMatcher
from allennlp_sentmatch.modules.matchers.matcher import Matcher
from allennlp_sentmatch.nn import matching


@Matcher.register("sum_difference")
class SumDifferenceMatcher(FunctionMatcher):
    """[a + b; |a - b|]: thesis eq. 6.25.

    Registered as a `Matcher` with name "sum_difference".

    # Parameters

    input_size : `int`
        d, the size of each of the two vectors. Models fill it in.
    """

    def __init__(self, input_size: int) -> None:
        super().__init__(input_size, matching.sum_difference, num_parts=2)
