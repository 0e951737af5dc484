"""The scores of additive attention, without a table of its hidden layer."""

from collections.abc import Iterator
from typing import Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import resolve
from allennlp_sentmatch.nn.ops.common.autograd import differentiable

#: The size of a part of the hidden layer, which fits into a core's second-level cache.
MAX_NUMBERS = 2**18

ScoreArguments = tuple[Tensor, Tensor, Tensor]


def additive_scores(
    queries: Tensor,
    keys: Tensor,
    vector: Tensor,
) -> Tensor:
    """Compute v . tanh(q_i + k_j) without a constant, to which a softmax is invariant.

    The queries (B, R, A), the keys (B, M, A) and the vector (A) give the scores (B, R, M).

    As tanh(x) = 2 sigmoid(2x) - 1, the scores are 2 v . sigmoid(2 (q_i + k_j)); a CPU computes the
    sigmoid ten times as fast. The hidden layer has B R M A numbers, for instance a hundred million
    for 32 passages of 200 tokens and A = 75. The backend "eager" computes it for a few queries at a
    time, and again in the backward pass.
    """
    doubled = (2 * queries, 2 * keys, 2 * vector)
    backend = resolve("additive attention", ("naive", "scan", "eager"), *doubled)
    if backend.name == "eager":
        scores: Tensor = differentiable(_forward, _backward, (), doubled)
        return scores
    queries, keys, vector = doubled
    return _hidden_layer(queries, keys) @ vector


def _hidden_layer(queries: Tensor, keys: Tensor) -> Tensor:
    """Return sigmoid(q_i + k_j), (B, R, M, A), of doubled queries (B, R, A) and keys (B, M, A)."""
    return (queries.unsqueeze(2) + keys.unsqueeze(1)).sigmoid_()


def _forward(arguments: ScoreArguments, keep: bool) -> tuple[Tensor, None]:
    queries, keys, vector = arguments
    # A list of parts would be scattered between freed layers, and fragment gigabytes of the heap.
    B, R, _ = queries.shape
    scores = queries.new_empty(B, R, keys.size(1))
    for rows in _parts(queries, keys):
        scores[:, rows] = _hidden_layer(queries[:, rows], keys) @ vector
    return scores, None


def _backward(
    arguments: ScoreArguments,
    kept: None,
    gradients: tuple[Tensor],
    needed: Optional[ScoreArguments],
) -> ScoreArguments:
    queries, keys, vector = arguments
    grad_queries = torch.empty_like(queries)
    grad_keys = torch.zeros_like(keys)
    grad_vector = torch.zeros_like(vector)
    for rows in _parts(queries, keys):
        layer = _hidden_layer(queries[:, rows], keys)  # (B, rows, M, A)
        grad_scores = gradients[0][:, rows].unsqueeze(3)  # (B, rows, M, 1)
        grad_vector.addmv_(layer.flatten(0, 2).t(), grad_scores.flatten())
        layer.addcmul_(layer, layer, value=-1)  # the derivative of the sigmoid
        by_argument = layer.mul_(grad_scores)
        grad_queries[:, rows] = by_argument.sum(2)
        grad_keys += by_argument.sum(1)
    return grad_queries.mul_(vector), grad_keys.mul_(vector), grad_vector


def _parts(queries: Tensor, keys: Tensor) -> Iterator[slice]:
    """Split the queries into parts whose hidden layer is computed at once; at least one."""
    size = max(1, MAX_NUMBERS // max(1, keys.numel()))
    for first in range(0, max(1, queries.size(1)), size):
        yield slice(first, first + size)
