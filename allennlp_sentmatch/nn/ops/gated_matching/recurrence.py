r"""The gated attention-based recurrence over a batch of passages and questions.

`naive` holds the equations. The other backends compute over packed passages, with an analytic
backward pass. What does not depend on the state is computed before the steps: W_u^Q u^Q, W_u^P u^P
and W_g u^P, and, because c is a weighted sum, the part of W_g [u^P; c] that each token of the
question would contribute. As tanh(x) = 2 sigmoid(2x) - 1 and a softmax is invariant to a constant
added to all scores, the scores are 2 v . sigmoid(2 (keys + query)).
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend, Name, resolve
from allennlp_sentmatch.nn.ops.common.autocast import without_autocast
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward
from allennlp_sentmatch.nn.ops.common.packing import Packing
from allennlp_sentmatch.nn.ops.common.products import affine
from allennlp_sentmatch.nn.ops.gated_matching import eager, naive
from allennlp_sentmatch.nn.ops.gated_matching.tables import (
    GatedMatchingArguments,
    GatedMatchingOutputGradients,
    GatedMatchingTables,
)
from allennlp_sentmatch.nn.ops.gated_matching.weights import GatedMatchingWeights

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "eager")
STEPS: dict[str, ModuleType] = {"eager": eager}


def gated_matching_recurrence(
    passage: Tensor,
    passage_mask: Tensor,
    question: Tensor,
    question_mask: Tensor,
    directions: Sequence[GatedMatchingWeights],
) -> tuple[Tensor, list[Tensor]]:
    """Match passages with questions in one or two directions.

    # Parameters

    passage, passage_mask : `Tensor`
        Shapes (B, T, P) and (B, T), right-padded.
    question, question_mask : `Tensor`
        Shapes (B, M, Q) and (B, M), right-padded.
    directions : `Sequence[GatedMatchingWeights]`
        The weights of each direction, left-to-right first.

    # Returns

    `tuple[Tensor, list[Tensor]]`
        The states, (B, T, S * H), and the attention of each direction, (B, T, M); all in the
        passage's own order and zero at padding.
    """
    tensors = [passage, question, *(weight for weights in directions for weight in weights)]
    backend = resolve("GatedMatching", IMPLEMENTATIONS, *tensors)
    packing = None
    if backend.name not in ("naive", "scan") and question.size(1) > 0:
        packing = Packing.of(passage_mask, bidirectional=len(directions) == 2)
    if packing is None or not packing.sizes:  # no token in the batch, hence no step
        return naive.gated_matching_recurrence(
            passage, passage_mask, question, question_mask, directions
        )
    with without_autocast(passage.device):
        return _packed(backend, packing, passage, question, question_mask, directions)


def _packed(
    backend: Backend,
    packing: Packing,
    passage: Tensor,
    question: Tensor,
    question_mask: Tensor,
    directions: Sequence[GatedMatchingWeights],
) -> tuple[Tensor, list[Tensor]]:
    """Compute `gated_matching_recurrence` over packed passages, of which there is at least one."""
    S, products = len(directions), backend.products
    weights = GatedMatchingWeights(
        *(same[0].unsqueeze(0) if S == 1 else torch.stack(same) for same in zip(*directions))
    )
    order = packing.order
    question_padding = ~question_mask[order]  # (B', M)
    question = question[order].masked_fill(question_padding.unsqueeze(2), 0.0)
    B, M, Q = question.shape
    P = passage.size(2)
    tokens = packing.pack(passage)  # (S, N, P)
    question_tokens = question.reshape(1, B * M, Q).expand(S, -1, -1)
    by_passage, by_context = (part.contiguous() for part in weights.gate.split([P, Q], 2))

    def project(x: Tensor, weight: Tensor) -> Tensor:
        return affine(x, weight, weight.new_zeros(weight.shape[:2]), products)

    arguments = GatedMatchingArguments(
        passage=tokens,
        queries=project(tokens, weights.attention_passage),
        gates=project(tokens, by_passage),
        keys=project(question_tokens, weights.attention_question).view(S, B, M, -1),
        values=torch.cat([question_tokens, project(question_tokens, by_context)], 2).view(
            S, B, M, -1
        ),
        attention_previous=weights.attention_previous,
        attention_vector=weights.attention_vector,
        weight_ih=weights.weight_ih_l0,
        weight_hh=weights.weight_hh_l0,
        bias_ih=weights.bias_ih_l0,
        bias_hh=weights.bias_hh_l0,
    )
    hidden, attention = _Steps.apply(  # type: ignore[no-untyped-call]
        backend, packing, question_padding, *arguments
    )
    return packing.unpack(hidden), list(packing.unpack(attention).chunk(S, 2))


class _Steps(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, backend: Backend, packing: Packing, padding: Tensor, *tensors: Tensor
    ) -> tuple[Tensor, Tensor]:
        tables: GatedMatchingTables = STEPS[backend.name].forward(
            backend, packing, padding, GatedMatchingArguments(*tensors)
        )
        ctx.backend, ctx.packing = backend, packing
        ctx.save_for_backward(*tensors, *tables)
        ctx.set_materialize_grads(False)
        return tables.hidden, tables.attention

    @staticmethod
    @analytic_backward
    def backward(ctx: Any, *gradients: Optional[Tensor]) -> tuple[Optional[Tensor], ...]:
        saved = ctx.saved_tensors
        arguments = GatedMatchingArguments(*saved[: len(GatedMatchingArguments._fields)])
        tables = GatedMatchingTables(*saved[len(GatedMatchingArguments._fields) :])
        grads: GatedMatchingArguments = STEPS[ctx.backend.name].backward(
            ctx.backend,
            ctx.packing,
            arguments,
            tables,
            GatedMatchingOutputGradients(*gradients),
            GatedMatchingArguments(*ctx.needs_input_grad[3:]),
        )
        return (None, None, None, *grads)
