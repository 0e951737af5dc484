"""Beam search for the most probable sentences of a generator."""

from typing import Optional

import torch
import torch.nn.functional as F
from allennlp.nn.beam_search import BeamSearch
from allennlp.nn.util import min_value_of_dtype
from torch import Tensor

from allennlp_sentmatch.nn.cs_lvm import ConditionalLanguageModel, LSTMState


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
    generator : `ConditionalLanguageModel`
    latent : `Tensor`
        z, (B, m).
    labels : `Tensor`, optional
        (B,), for a generator with labels.
    word_embeddings : `Tensor`
        (V, D).
    start_index : `int`
        The index of the start symbol.
    allowed_words : `Tensor`
        (V,), bool: what may be generated, the end symbol included.

    # Returns

    `Tuple[Tensor, Tensor]`
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
