"""The matcher `concat`."""

from allennlp_sentmatch.modules.matchers.function_matcher import FunctionMatcher
from allennlp_sentmatch.modules.matchers.matcher import Matcher
from allennlp_sentmatch.nn import matching


@Matcher.register("concat")
class ConcatMatcher(FunctionMatcher):
    """[a; b]: the vectors themselves (thesis table 5.1).

    Registered as a `Matcher` with name "concat".

    # Parameters

    input_size : `int`
        d, the size of each of the two vectors. Models fill it in.
    """

    def __init__(self, input_size: int) -> None:
        super().__init__(input_size, matching.concat, num_parts=2)
