"""The length normalization of beam search that machine translation made common."""

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.nn.beam_search import FinalSequenceScorer


@FinalSequenceScorer.register("length_penalty")
class LengthPenaltyScorer(FinalSequenceScorer):
    """Scores a sentence Y by log P(Y) / lp(Y), lp(Y) = (5 + |Y|)^alpha / (5 + 1)^alpha.

    Wu et al. 2016, "Google's Neural Machine Translation System", eq. 14, which the thesis cites
    (section 6.4.5). AllenNLP's "length-normalized-sequence-log-prob" divides by |Y|^alpha.
    |Y| counts the end symbol where there is one.

    Registered as a `FinalSequenceScorer` with name "length_penalty".

    # Parameters

    alpha : `float`, optional (default = `0.7`)
        At least 0; 0 means no normalization, a larger one prefers longer sentences.
    """

    def __init__(self, alpha: float = 0.7) -> None:
        super().__init__()
        if alpha < 0:
            raise ConfigurationError(f"alpha is {alpha}; it must be at least 0")
        self.alpha = alpha

    def score(
        self, predictions: torch.Tensor, log_probabilities: torch.Tensor, end_index: int
    ) -> torch.Tensor:
        """The scores (B, beam) of `predictions` (B, beam, T), padded with `end_index`."""
        # shape: (B, beam)
        lengths = (predictions != end_index).sum(dim=-1)
        lengths = lengths + (predictions[..., -1] == end_index).long()
        return log_probabilities / ((5 + lengths) / 6) ** self.alpha
