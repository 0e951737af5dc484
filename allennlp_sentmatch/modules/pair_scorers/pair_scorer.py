"""The base class of pair scorers."""

from allennlp.common import Registrable
from torch import Tensor, nn


class PairScorer(nn.Module, Registrable):
    """A `PairScorer` turns two vectors of the same size into a score of their similarity.

    # Parameters

    input_size : `int`
        d, the size of each of the two vectors. Models fill it in from their encoder.
    lowest_score, highest_score : `float`
        All scores lie between them. Models fill them in.
    """

    default_implementation = "graded"

    def __init__(self, input_size: int, lowest_score: float, highest_score: float) -> None:
        super().__init__()
        self.input_size = input_size
        self.lowest_score = lowest_score
        self.highest_score = highest_score

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Compare `a` and `b`, each (B, d). `score` and `loss` take the result, (B, ...)."""
        raise NotImplementedError

    def score(self, compared: Tensor) -> Tensor:
        """The scores (B,) of compared vectors."""
        raise NotImplementedError

    def loss(self, compared: Tensor, scores: Tensor) -> Tensor:
        """The loss, a scalar, of compared vectors whose true `scores` are (B,)."""
        raise NotImplementedError
