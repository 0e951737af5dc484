"""The matcher `symmetric`."""

from allennlp_sentmatch.modules.matchers.function_matcher import FunctionMatcher
from allennlp_sentmatch.modules.matchers.matcher import Matcher
from allennlp_sentmatch.nn import matching


@Matcher.register("symmetric")
class SymmetricMatcher(FunctionMatcher):
    """[|a - b|; a * b]: CAS-LSTM eq. 16, thesis eq. 5.5.

    Registered as a `Matcher` with name "symmetric".

    # Parameters

    input_size : `int`
        d, the size of each of the two vectors. Models fill it in.
    """

    def __init__(self, input_size: int) -> None:
        super().__init__(input_size, matching.symmetric, num_parts=2)
