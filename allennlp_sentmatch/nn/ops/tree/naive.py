"""The composition layer by layer; the equations are in `nn/gumbel_tree_lstm.py`.

Each layer computes all of its candidates. The choice of a pair is a product with copy masks
(3.14-3.20), through which it has a gradient.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.straight_through import straight_through
from allennlp_sentmatch.nn.ops.tree.cell import tree_lstm_cell
from allennlp_sentmatch.nn.ops.tree.choices import Choices, choose_greedily
from allennlp_sentmatch.nn.ops.tree.weights import TreeWeights


def tree_recurrence(
    hidden: Tensor, cell: Tensor, mask: Tensor, weights: TreeWeights, choices: Choices
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the function of the same name in `allennlp_sentmatch.nn.ops.tree.recurrence`."""
    lengths = mask.sum(1)
    chosen: list[Tensor] = []
    for step in range(hidden.size(1) - 1):
        candidate_hidden, candidate_cell = candidates(hidden, cell, weights)  # (B, M, H)
        index = torch.arange(candidate_hidden.size(1), device=lengths.device)
        pairs_left = (lengths - step - 1).unsqueeze(1)  # (B, 1)
        allowed = index < pairs_left  # (B, M); none for a sentence that is one node
        scores = (candidate_hidden * weights.query).sum(-1)  # (B, M)
        choice = _choose(scores, allowed, weights.query, step, choices)
        chosen.append(choice.argmax(1).masked_fill(~allowed[:, 0], -1))
        hidden = copy_or_merge(choice, hidden, candidate_hidden)  # (B, M, H)
        cell = copy_or_merge(choice, cell, candidate_cell)
    no_merges = torch.empty(len(lengths), 0, dtype=torch.long, device=lengths.device)
    # One node is left, or none if the batch has no steps; hence the sums.
    return hidden.sum(1), cell.sum(1), torch.stack(chosen, 1) if chosen else no_merges


def candidates(hidden: Tensor, cell: Tensor, weights: TreeWeights) -> tuple[Tensor, Tensor]:
    """Compose each pair of neighbors among nodes (B, M + 1, H): h and c, (B, M, H) each."""
    children = torch.cat([hidden[:, :-1], hidden[:, 1:]], -1)  # (B, M, 2H)
    return tree_lstm_cell(
        F.linear(children, weights.weight, weights.bias), cell[:, :-1], cell[:, 1:]
    )


def _choose(scores: Tensor, allowed: Tensor, query: Tensor, step: int, choices: Choices) -> Tensor:
    """Return a one-hot choice for each sentence, (B, M), zero if it has no pair."""
    if choices.merges is not None:
        index = torch.arange(scores.size(1), device=scores.device)
        return ((index == choices.merges[:, step : step + 1]) & allowed).to(scores.dtype)
    if choices.noise is not None:
        logits = scores + choices.noise[step]
        return straight_through(logits, allowed, choices.temperature).to(scores.dtype)
    return choose_best(scores, allowed, query)


def choose_best(scores: Tensor, allowed: Tensor, query: Tensor) -> Tensor:
    """Choose greedily, one-hot or zero as `_choose`."""
    best = choose_greedily(scores, allowed, query).unsqueeze(1)  # (B, 1)
    return torch.zeros_like(scores).scatter(1, best, 1.0) * allowed


def copy_or_merge(choice: Tensor, nodes: Tensor, candidates: Tensor) -> Tensor:
    """Return the next layer (3.14), (B, M, H), given choices (B, M) and nodes (B, M + 1, H)."""
    merged_so_far = choice.cumsum(1)  # (B, M)
    left = 1 - merged_so_far
    right = merged_so_far - choice  # those before j, C_{j-1}
    return (
        left.unsqueeze(-1) * nodes[:, :-1]
        + right.unsqueeze(-1) * nodes[:, 1:]
        + choice.unsqueeze(-1) * candidates
    )
