"""Differentiable generation (thesis section 6.3.3, "Fine-Tuning with Semantic Constraints").

Each word is sampled from the generator's distribution by the Gumbel-softmax trick (Jang et al.
2017), and its expected embedding is the input of the next step.
"""

from typing import NamedTuple, Optional

import torch

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.cs_lvm.conditional_language_model import ConditionalLanguageModel
from allennlp_sentmatch.nn.gumbel_softmax import gumbel_noise, straight_through_gumbel_softmax


class RelaxedSentence(NamedTuple):
    """Generated sentences without <s> and </s>."""

    embedded: torch.Tensor
    """The (expected) word embeddings, (B, T, D)."""

    mask: torch.Tensor
    """(B, T), bool: the words before </s>."""


def generate_relaxed(
    generator: ConditionalLanguageModel,
    latent: torch.Tensor,
    labels: Optional[torch.Tensor],
    word_embeddings: torch.Tensor,
    *,
    start_index: int,
    end_index: int,
    allowed_words: torch.Tensor,
    max_length: int,
    temperature: float,
    straight_through: bool = False,
    lengths: Optional[torch.Tensor] = None,
) -> RelaxedSentence:
    """Sample sentences that are differentiable with respect to the generator's parameters.

    # Parameters

    generator : `ConditionalLanguageModel`
    latent : `torch.Tensor`
        z, (B, m).
    labels : `torch.Tensor`, optional
        (B,), for a generator with labels.
    word_embeddings : `torch.Tensor`
        E, (V, D): the output's weight matrix, and the embeddings that expectations are taken of.
    start_index, end_index : `int`
        The indices of <s> and </s>.
    allowed_words : `torch.Tensor`
        (V,), bool: the words that may be generated, including </s>.
    max_length : `int`
        The maximum number of words.
    temperature : `float`
        tau > 0 of the Gumbel-softmax.
    straight_through : `bool`, optional (default = `False`)
        If `False`, the next input is the expected embedding under the relaxed sample, as in the
        thesis; if `True`, it is the embedding of one word, with the relaxed sample's gradient.
    lengths : `torch.Tensor`, optional (default = `None`)
        (B,), each at least 1: generate as many words instead, of which </s> is one like any other.
        `max_length` does not count then.

    # Returns

    `RelaxedSentence`
        A sentence ends before the first step whose most probable word is </s>. Every sentence has
        at least one word, because encoders need one.

    # Raises

    `ValueError`
        If `max_length` is less than 1, or `labels` are missing.
    """
    check_positive(max_length=max_length)
    batch_size = latent.size(0)
    allowed = allowed_words.expand(batch_size, -1)
    allowed_first = allowed.clone()
    allowed_first[:, end_index] = False
    state = generator.initial_state(latent)
    # shape: (B, D)
    embedded = word_embeddings[start_index].expand(batch_size, -1)
    unfinished = torch.ones(batch_size, dtype=torch.bool, device=latent.device)
    words, masks = [], []
    for position in range(max_length if lengths is None else int(lengths.max())):
        logits, state = generator.step(embedded, state, latent, labels, word_embeddings)
        candidates = allowed_first if position == 0 and lengths is None else allowed
        # shape: (B, V)
        if straight_through:
            sample = straight_through_gumbel_softmax(logits, candidates, temperature)
        else:
            noisy = (logits + gumbel_noise(logits)).masked_fill(
                ~candidates, torch.finfo(logits.dtype).min
            )
            sample = (noisy / temperature).softmax(dim=-1)
        if lengths is None:
            unfinished = unfinished & (sample.argmax(dim=-1) != end_index)
        else:
            unfinished = lengths > position
        if not unfinished.any():
            break
        embedded = sample @ word_embeddings
        words.append(embedded)
        masks.append(unfinished)
    return RelaxedSentence(torch.stack(words, dim=1), torch.stack(masks, dim=1))
