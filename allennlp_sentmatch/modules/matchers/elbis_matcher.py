"""The matcher `elbis`."""

from torch import Tensor

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.matchers.matcher import Matcher
from allennlp_sentmatch.nn.matching import ElementwiseBilinear


@Matcher.register("elbis")
class ElBiSMatcher(Matcher):
    """Element-wise bilinear sentence matching, learned from data (thesis eqs 5.1-5.3).

    Registered as a `Matcher` with name "elbis".

    # Parameters

    input_size : `int`
        d, the size of each of the two vectors. Models fill it in from their encoder.
    num_interactions : `int`, optional (default = `1`)
        M, how many bilinear forms there are for each dimension.
    commutative : `bool`, optional (default = `False`)
        Whether swapping the vectors must leave the output unchanged.
    """

    def __init__(
        self, input_size: int, num_interactions: int = 1, commutative: bool = False
    ) -> None:
        super().__init__(input_size)
        with configuration_errors():
            self._bilinear = ElementwiseBilinear(input_size, num_interactions, commutative)

    def get_output_dim(self) -> int:
        """`num_interactions` times the input's size."""
        return self._bilinear.num_interactions * self.get_input_dim()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, each (..., d), to (..., num_interactions * d)."""
        features: Tensor = self._bilinear(a, b)
        return features
