r"""The scores of additive attention among the tokens of a sentence, s_ij = v . tanh(q_i + k_j).

For a batch, the argument of tanh has B T^2 A numbers, for instance a hundred million for 32
passages of 200 tokens and A = 75. "naive" makes a table of them, and autograd keeps it. The other
backends go through the sentences and some rows at a time, without padding, and compute the
numbers again in the backward pass.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend, Name, resolve
from allennlp_sentmatch.nn.ops.common.autocast import without_autocast
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward
from allennlp_sentmatch.nn.ops.self_attention import eager, naive

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "eager")
STEPS: dict[str, ModuleType] = {"eager": eager}


def additive_scores(queries: Tensor, keys: Tensor, vector: Tensor, mask: Tensor) -> Tensor:
    """Score each token of a sentence for each of its tokens.

    # Parameters

    queries, keys : `Tensor`
        Shape (B, T, A).
    vector : `Tensor`
        Shape (A).
    mask : `Tensor`
        Shape (B, T), bool, right-padded.

    # Returns

    `Tensor`
        Shape (B, T, T): row i has the scores for q_i; zero at padding.
    """
    backend = resolve("GatedSelfMatching", IMPLEMENTATIONS, queries, keys, vector)
    if backend.name == "naive":
        return naive.additive_scores(queries, keys, vector, mask)
    with without_autocast(queries.device):
        scores: Tensor = _AdditiveScores.apply(  # type: ignore[no-untyped-call]
            backend, mask.sum(1).tolist(), queries, keys, vector
        )
    return scores


class _AdditiveScores(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        backend: Backend,
        lengths: Sequence[int],
        queries: Tensor,
        keys: Tensor,
        vector: Tensor,
    ) -> Tensor:
        ctx.backend, ctx.lengths = backend, lengths
        ctx.save_for_backward(queries, keys, vector)
        scores: Tensor = STEPS[backend.name].forward(queries, keys, vector, lengths)
        return scores

    @staticmethod
    @analytic_backward
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        grads = STEPS[ctx.backend.name].backward(*ctx.saved_tensors, ctx.lengths, grad)
        return (None, None, *grads)
