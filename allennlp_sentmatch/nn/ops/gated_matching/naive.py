"""The gated attention-based recurrence, token by token.

The equations are in the docstring of `allennlp_sentmatch.nn.reading_comprehension.gated_matching`.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.cells import gru_cell
from allennlp_sentmatch.nn.ops.common.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.ops.common.reversal import reverse_sentences
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan
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

    def step(state: Tensors, at_step: Tensors) -> StepResult:
        (v,), (u, query) = state, at_step  # (B, H), (B, P), (B, A)
        query = query + F.linear(v, weights.attention_previous)
        scores = torch.tanh(keys + query.unsqueeze(1)) @ weights.attention_vector  # (B, M)
        a = masked_softmax(scores.to(dtype), question_mask)
        c = torch.einsum("bm,bmq->bq", a, question.to(dtype))
        x = torch.cat([u.to(dtype), c], -1)  # (B, D)
        x = torch.sigmoid(F.linear(x, weights.gate).to(dtype)) * x
        v = gru_cell(
            F.linear(x, weights.weight_ih_l0, weights.bias_ih_l0).to(dtype),
            F.linear(v, weights.weight_hh_l0, weights.bias_hh_l0).to(dtype),
            v,
        )
        return (v,), (v, a)

    initial = passage.new_zeros(passage.size(0), weights.weight_hh_l0.size(1), dtype=dtype)
    by_token = (passage.transpose(0, 1), queries.transpose(0, 1))
    _, (states, attention) = scan(step, (initial,), by_token)
    return states.transpose(0, 1), attention.transpose(0, 1)
