"""The gated attention-based recurrence, token by token.

The equations are in the docstring of `allennlp_sentmatch.nn.reading_comprehension.gated_matching`.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.ops.common.reversal import reverse_sentences
from allennlp_sentmatch.nn.ops.gated_matching.weights import GatedMatchingWeights


def gated_matching_recurrence(
    passage: Tensor,
    passage_mask: Tensor,
    question: Tensor,
    question_mask: Tensor,
    directions: Sequence[GatedMatchingWeights],
) -> tuple[Tensor, list[Tensor]]:
    """Compute the function of the same name in `ops.gated_matching.recurrence`."""
    padding = ~passage_mask.unsqueeze(-1)  # (B, T, 1)
    # Clear the padding: NaN in it would reach the weights' gradients.
    passage = passage.masked_fill(padding, 0.0)
    question = question.masked_fill(~question_mask.unsqueeze(-1), 0.0)
    states, attentions = [], []
    for direction, weights in enumerate(directions):
        in_order = reverse_sentences(passage, passage_mask) if direction else passage
        matched, attention = _one_direction(in_order, question, question_mask, weights)
        states.append(reverse_sentences(matched, passage_mask) if direction else matched)
        attentions.append(reverse_sentences(attention, passage_mask) if direction else attention)
    return (
        torch.cat(states, -1).masked_fill(padding, 0.0),
        [attention.masked_fill(padding, 0.0) for attention in attentions],
    )


def _one_direction(
    passage: Tensor, question: Tensor, question_mask: Tensor, weights: GatedMatchingWeights
) -> tuple[Tensor, Tensor]:
    """The states (B, T, H) and the attention (B, T, M) from left to right."""
    dtype = weights.weight_hh_l0.dtype  # autocast narrows the products but not the states
    keys = F.linear(question, weights.attention_question)  # (B, M, A)
    queries = F.linear(passage, weights.attention_passage)  # (B, T, A)
    v = passage.new_zeros(passage.size(0), weights.weight_hh_l0.size(1), dtype=dtype)  # (B, H)
    # With an empty first part, there are results for T = 0, too.
    states, attention = [v[:, None][:, :0]], [question_mask[:, None].to(dtype)[:, :0]]
    for u, query in zip(passage.unbind(1), queries.unbind(1)):  # (B, P), (B, A)
        query = query + F.linear(v, weights.attention_previous)
        scores = torch.tanh(keys + query.unsqueeze(1)) @ weights.attention_vector  # (B, M)
        a = masked_softmax(scores.to(dtype), question_mask)
        c = torch.einsum("bm,bmq->bq", a, question.to(dtype))
        x = torch.cat([u.to(dtype), c], -1)  # (B, D)
        x = torch.sigmoid(F.linear(x, weights.gate).to(dtype)) * x
        v = _gru(x, v, weights)
        states.append(v.unsqueeze(1))
        attention.append(a.unsqueeze(1))
    return torch.cat(states, 1), torch.cat(attention, 1)


def _gru(x: Tensor, h: Tensor, weights: GatedMatchingWeights) -> Tensor:
    """A step of `torch.nn.GRU`, from (B, D) and (B, H) to (B, H)."""
    x_r, x_z, x_n = F.linear(x, weights.weight_ih_l0, weights.bias_ih_l0).to(h.dtype).chunk(3, -1)
    h_r, h_z, h_n = F.linear(h, weights.weight_hh_l0, weights.bias_hh_l0).to(h.dtype).chunk(3, -1)
    z = torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)
    return (1 - z) * n + z * h
