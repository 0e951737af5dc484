"""The composition with a linear number of cell evaluations; see `recurrence`.

A node has a row of the tables, and its candidate with the next node has the same. A parent takes
the row of its left child, or a new one if all nodes are kept for a backward pass.
"""

from typing import Optional, Union

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.tree.cell import tree_lstm_cell
from allennlp_sentmatch.nn.ops.tree.choices import Choices, choose_greedily
from allennlp_sentmatch.nn.ops.tree.tables import EagerTreeTables, Sentences, Trace
from allennlp_sentmatch.nn.ops.tree.weights import TreeWeights


def forward(
    backend: Backend,
    sentences: Sentences,
    hidden: Tensor,
    cell: Tensor,
    weights: TreeWeights,
    choices: Choices,
    keep: bool,
) -> Trace:
    """Compose the leaves' `hidden` and `cell`, packed (N, H), of a batch with a pair of tokens.

    For a backward pass, `keep` saves the tables of nodes, and each step's relaxed choice y (n, M)
    if choices are sampled.
    """
    B, T, device = sentences.sizes[0], len(sentences.sizes), hidden.device
    N = len(hidden)
    num_parents = sum(sentences.sizes[1:]) if keep else 0
    candidates = _Candidates(backend, hidden, cell, weights, num_parents)
    rows = sentences.leaf_rows()  # (B, T), of the remaining nodes, from left to right
    pairs_left = (sentences.lengths - 1).unsqueeze(1)  # (B, 1)
    allowed = torch.arange(T - 1, device=device) < pairs_left  # (B, T - 1)
    scores = cell.new_zeros(B, T - 1)
    scores[allowed] = candidates.compute(rows[:, :-1][allowed], rows[:, 1:][allowed])
    merges = torch.full((B, T - 1), -1, dtype=torch.long, device=device)
    root_hidden, root_cell = hidden[:B].clone(), cell[:B].clone()  # of sentences of one token
    relaxed: list[Tensor] = []
    for step, n in enumerate(sentences.sizes[1:]):  # n sentences have a pair to merge
        rows, scores, allowed, pairs_left = rows[:n], scores[:n], allowed[:n], pairs_left[:n]
        chosen, soft = _choose(scores, allowed, weights.query, step, choices, keep)
        merges[:n, step] = chosen
        chosen = chosen.unsqueeze(1)  # (n, 1)
        parent = rows.gather(1, chosen).squeeze(1)  # (n): the row of the left child
        parent_hidden, parent_cell = candidates.at(parent)  # (n, H)
        root_hidden[:n], root_cell[:n] = parent_hidden, parent_cell
        if keep:
            parent = torch.arange(N, N + n, device=device)
            rows = rows.scatter(1, chosen, parent.unsqueeze(1))
            N += n
        if soft is not None:
            relaxed.append(soft)
        if step + 2 == T:
            break
        n = sentences.sizes[step + 2]  # sentences with another merge
        chosen = chosen[:n]
        candidates.set(parent[:n], parent_hidden[:n], parent_cell[:n])
        # Remove the right child and the chosen candidate; what follows them moves up.
        index = torch.arange(T - 1 - step, device=device)
        rows = torch.where(index <= chosen, rows[:n, :-1], rows[:n, 1:])
        scores = torch.where(index[:-1] < chosen, scores[:n, :-1], scores[:n, 1:])
        pairs_left = pairs_left[:n] - 1
        allowed = index[:-1] < pairs_left
        new = new_pairs(chosen, pairs_left)  # (n, 2)
        left, right = (rows.gather(1, pair).view(-1) for pair in (new, new + 1))  # (2n)
        scores = scores.scatter(1, new, candidates.compute(left, right).view(n, 2))
    return Trace(root_hidden, root_cell, merges, (*candidates.nodes, *relaxed))


class _Candidates:
    """The remaining nodes' projections and cells, and their candidates."""

    def __init__(
        self, backend: Backend, hidden: Tensor, cell: Tensor, weights: TreeWeights, num_parents: int
    ) -> None:
        (N, H), rows = hidden.shape, len(hidden) + num_parents
        self._linear = backend.products.linear
        self._query = weights.query
        weight = torch.cat(weights.weight.chunk(2, 1))  # (10H, H), for a left and right child
        # With oneDNN, it gives a row the same product among many rows as among few: a sentence has
        # the same bits in most batches.
        self._weight = backend.products.prepacked(weight)
        self._bias = F.pad(weights.bias, (0, 5 * H))  # (10H)
        self.nodes = EagerTreeTables(hidden.new_empty(rows, 2 * H), hidden.new_empty(rows, 10 * H))
        self._hidden, self._cell = hidden.new_zeros(rows, H), hidden.new_zeros(rows, H)
        self.set(slice(N), hidden, cell)

    def compute(self, left: Tensor, right: Tensor) -> Tensor:
        """Compute the candidates of nodes in these rows, (K), and return their scores (K)."""
        states, projected = self.nodes
        H, middle = self._query.size(0), projected.size(1) // 2
        hidden, cell = tree_lstm_cell(
            projected[:, :middle].index_select(0, left)
            + projected[:, middle:].index_select(0, right),
            states[:, H:].index_select(0, left),
            states[:, H:].index_select(0, right),
        )
        self._hidden.index_copy_(0, left, hidden)
        self._cell.index_copy_(0, left, cell)
        return (hidden * self._query).sum(1)

    def at(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return h and c of the candidates in these rows."""
        return self._hidden.index_select(0, rows), self._cell.index_select(0, rows)

    def set(self, rows: Union[Tensor, slice], hidden: Tensor, cell: Tensor) -> None:
        """Set the nodes in these rows."""
        self.nodes.states[rows] = torch.cat([hidden, cell], 1)
        self.nodes.projected[rows] = self._linear(hidden, self._weight).add_(self._bias)


def new_pairs(chosen: Tensor, pairs_left: Tensor) -> Tensor:
    """Return the indices of the parent's pairs with its neighbors, (n, 2).

    The parent is at index `chosen` (n, 1). At an end of the sentence, which has `pairs_left` (n, 1)
    pairs, the parent has one neighbor, whose pair is returned twice.
    """
    return torch.cat([(chosen - 1).clamp_min(0), chosen.minimum(pairs_left - 1)], 1)


def _choose(
    scores: Tensor, allowed: Tensor, query: Tensor, step: int, choices: Choices, keep: bool
) -> tuple[Tensor, Optional[Tensor]]:
    """Return the chosen indices (n) and, if sampled and to be kept, the relaxed choice (n, M)."""
    n, M = scores.shape
    if choices.merges is not None:
        return choices.merges[:n, step], None
    if choices.noise is None:
        return choose_greedily(scores, allowed, query), None
    logits = (scores + choices.noise[step][:n, :M]).masked_fill(~allowed, -torch.inf)
    return logits.argmax(1), (logits / choices.temperature).softmax(1) if keep else None
