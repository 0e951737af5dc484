"""The generator of sentences, and beam search for the most probable ones."""

from typing import Optional

import torch
import torch.nn.functional as F
from allennlp.common import FromParams
from allennlp.common.checks import ConfigurationError
from allennlp.nn.beam_search import BeamSearch, FinalSequenceScorer
from allennlp.nn.util import min_value_of_dtype
from torch import Tensor

from allennlp_sentmatch.modules.configuration_errors import constructs
from allennlp_sentmatch.nn.cs_lvm import ConditionalLanguageModel, LSTMState


class SentenceGenerator(FromParams):
    """Holds the `ConditionalLanguageModel` that a configuration states.

    A model takes a `Lazy[SentenceGenerator]`, fills in all but the last argument, and keeps the
    `module`. The parameters are those of `allennlp_sentmatch.nn.cs_lvm.ConditionalLanguageModel`.
    """

    @constructs(ConditionalLanguageModel)
    def __init__(self, module: ConditionalLanguageModel) -> None:
        self.module = module


@FinalSequenceScorer.register("length_penalty")
class LengthPenaltyScorer(FinalSequenceScorer):
    """Scores a sentence Y by log P(Y) / lp(Y), lp(Y) = (5 + |Y|)^alpha / (5 + 1)^alpha.

    Wu et al. 2016, "Google's Neural Machine Translation System", eq. 14, which the thesis cites
    (section 6.4.5). AllenNLP's "length-normalized-sequence-log-prob" divides by |Y|^alpha.
    |Y| counts the end symbol where there is one.

    # Parameters

    alpha : `float`, optional (default = `0.7`)
        At least 0; 0 means no normalization, a larger one prefers longer sentences.
    """

    def __init__(self, alpha: float = 0.7) -> None:
        super().__init__()
        if alpha < 0:
            raise ConfigurationError(f"alpha is {alpha}; it must be at least 0")
        self.alpha = alpha

    def score(self, predictions: Tensor, log_probabilities: Tensor, end_index: int) -> Tensor:
        """The scores (B, beam) of `predictions` (B, beam, T), padded with `end_index`."""
        lengths = (predictions != end_index).sum(dim=-1)  # (B, beam)
        lengths = lengths + (predictions[..., -1] == end_index).long()
        return log_probabilities / ((5 + lengths) / 6) ** self.alpha


@torch.no_grad()
def search_sentences(
    beam_search: BeamSearch,
    generator: ConditionalLanguageModel,
    latent: Tensor,
    labels: Optional[Tensor],
    word_embeddings: Tensor,
    *,
    start_index: int,
    allowed_words: Tensor,
) -> tuple[Tensor, Tensor]:
    """Search the best sentences for each latent vector and label.

    # Parameters

    beam_search : `BeamSearch`
        AllenNLP's, with the end symbol, the number of beams and the scorer.
    generator, latent, labels, word_embeddings, start_index, allowed_words
        As for `allennlp_sentmatch.nn.cs_lvm.generate_relaxed`.

    # Returns

    `tuple[Tensor, Tensor]`
        Word indices (B, K, T), the best of K sentences first, each ended and padded by the end
        symbol; and their scores (B, K).
    """

    def step(last_words: Tensor, state: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        logits, (hidden, cell) = generator.step(
            word_embeddings[last_words],
            LSTMState(state["hidden"], state["cell"]),
            state["latent"],
            state.get("labels"),
            word_embeddings,
        )
        log_probs = F.log_softmax(logits, dim=-1)
        log_probs = log_probs.masked_fill(~allowed_words, min_value_of_dtype(log_probs.dtype))
        return log_probs, {**state, "hidden": hidden, "cell": cell}

    initial = generator.initial_state(latent)
    state = {"hidden": initial.hidden, "cell": initial.cell, "latent": latent}
    if labels is not None:
        state["labels"] = labels
    start = torch.full((latent.size(0),), start_index, device=latent.device)
    predictions, scores = beam_search.search(start, state, step)
    return predictions, scores
