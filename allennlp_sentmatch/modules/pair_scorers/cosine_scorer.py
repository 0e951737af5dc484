"""The pair scorer `cosine`."""

import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.modules.pair_scorers.pair_scorer import PairScorer
from allennlp_sentmatch.nn.similarity import scaled_cosine


@PairScorer.register("cosine")
class CosineScorer(PairScorer):
    """The cosine of the two vectors, from 0 (the lowest score) to 1 (the highest one).

    There are no parameters: the encoder learns vectors whose cosine is the similarity, so that the
    nearest neighbors of `allennlp search` are the most similar sentences. The score of a negative
    cosine is the lowest one. The loss is the mean squared error of the cosine, a negative one
    included, in units of the score.

    Registered as a `PairScorer` with name "cosine".

    # Parameters

    input_size : `int`
        The size of each of the two vectors. Models fill it in.
    lowest_score, highest_score : `float`
        The scores of the cosines 0 and 1. Models fill them in.
    """

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Scale the cosines (B,) of `a` and `b`, each (B, d)."""
        return scaled_cosine(a, b, self.lowest_score, self.highest_score)

    def score(self, compared: Tensor) -> Tensor:
        """The scores (B,) of scaled cosines."""
        return compared.clamp(self.lowest_score, self.highest_score)

    def loss(self, compared: Tensor, scores: Tensor) -> Tensor:
        """The mean squared error, a scalar, of scaled cosines."""
        return F.mse_loss(compared, scores.to(compared.dtype))
