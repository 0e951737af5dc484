"""The scores of additive attention and their gradient for some rows of a sentence at a time.

As tanh(x) = 2 sigmoid(2x) - 1, a score is 2 v . sigmoid(2q + 2k) - sum(v).
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

#: The size of a hidden layer that fits into a core's second-level cache.
MAX_NUMBERS = 2**18


def forward(queries: Tensor, keys: Tensor, vector: Tensor, lengths: Sequence[int]) -> Tensor:
    """The scores (B, T, T), from (B, T, A), (B, T, A) and (A)."""
    B, T, A = queries.shape
    scores = queries.new_zeros(B, T, T)
    queries, keys = 2 * queries, 2 * keys
    doubled, total = 2 * vector, vector.sum()
    buffer = _buffer(queries)
    for b, rows, length in _parts(lengths, A):
        layer = _hidden_layer(buffer, queries[b, rows], keys[b, :length])  # (rows, length, A)
        scores[b, rows, :length] = torch.mv(layer.view(-1, A), doubled).view(-1, length) - total
    return scores


def backward(
    queries: Tensor, keys: Tensor, vector: Tensor, lengths: Sequence[int], grad: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of the queries, the keys and the vector, from that of the scores."""
    A = vector.size(0)
    grad_queries, grad_keys = torch.zeros_like(queries), torch.zeros_like(keys)
    grad_vector = torch.zeros_like(vector)
    queries, keys = 2 * queries, 2 * keys
    buffer = _buffer(queries)
    for b, rows, length in _parts(lengths, A):
        layer = _hidden_layer(buffer, queries[b, rows], keys[b, :length])  # (rows, length, A)
        grad_scores = grad[b, rows, :length]
        grad_vector.addmv_(layer.view(-1, A).t(), grad_scores.reshape(-1))
        layer.addcmul_(layer, layer, value=-1).mul_(grad_scores.unsqueeze(2))
        grad_queries[b, rows] = layer.sum(1)
        grad_keys[b, :length] += layer.sum(0)
    # A score's derivatives are 4 v * y * (1 - y) by q and by k, and 2 y - 1 by v.
    grad_vector = 2 * grad_vector - sum(
        grad[b, :length, :length].sum() for b, length in enumerate(lengths)
    )
    scale = 4 * vector
    return grad_queries.mul_(scale), grad_keys.mul_(scale), grad_vector


def _parts(lengths: Sequence[int], size: int) -> Iterator[tuple[int, slice, int]]:
    """Each sentence's number, some of its rows, and its length."""
    for b, length in enumerate(lengths):
        num_rows = max(1, MAX_NUMBERS // (size * max(length, 1)))
        for first in range(0, length, num_rows):
            yield b, slice(first, min(first + num_rows, length)), length


def _buffer(queries: Tensor) -> Tensor:
    _, T, A = queries.shape
    return queries.new_empty(max(MAX_NUMBERS, T * A))


def _hidden_layer(buffer: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """sigmoid(q + k), in a buffer, for queries (R, A) and keys (L, A): (R, L, A)."""
    R, A = queries.shape
    layer = buffer[: R * keys.size(0) * A].view(R, -1, A)
    return torch.add(queries.unsqueeze(1), keys, out=layer).sigmoid_()
