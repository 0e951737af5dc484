"""The composition layer by layer; the equations are in `nn/gumbel_tree_lstm.py`.

Each layer computes all of its candidates. The choice of a pair is a product with copy masks
(3.14-3.20), through which it has a gradient.
"""

from typing import Optional

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, is_exporting, scan
from allennlp_sentmatch.nn.ops.common.straight_through import straight_through
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.cell import tree_lstm_cell
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.choices import Choices, choose_greedily
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.weights import TreeWeights


def tree_recurrence(
    hidden: Tensor, cell: Tensor, mask: Tensor, weights: TreeWeights, choices: Choices
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the function of the same name in `ops.gumbel_tree_lstm.recurrence`."""
    allowed = _allowed_pairs(mask)  # (T, B, T)
    chosen: list[Tensor] = []
    for step in range(mask.size(1) - 1):
        num_pairs = mask.size(1) - 1 - step
        hidden, cell, merges = _merge(
            (hidden, cell),
            allowed[step, :, :num_pairs],
            weights,
            None if choices.merges is None else choices.merges[:, step],
            None if choices.noise is None else choices.noise[step],
            choices.temperature,
        )
        chosen.append(merges)
    no_merges = torch.empty(len(mask), 0, dtype=torch.long, device=mask.device)
    # One node is left, or none if the batch has no steps; hence the sums.
    return hidden.sum(1), cell.sum(1), torch.stack(chosen, 1) if chosen else no_merges


def scanned_recurrence(
    hidden: Tensor, cell: Tensor, mask: Tensor, weights: TreeWeights, choices: Choices
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the same with layers of a fixed size, without sampling, for `scan`.

    Each step has all T pairs of T + 1 nodes, those at padding included, and there is one step more
    than merges, so that a batch of one token has a step.
    """
    by_step = [_allowed_pairs(mask)]
    if choices.merges is not None:
        by_step.append(F.pad(choices.merges, (0, 1)).t())  # (T, B)

    def step(nodes: Tensors, at_step: Tensors) -> StepResult:
        allowed, *given = at_step  # (B, T), and (B)
        *merged, chosen = _merge(nodes, allowed, weights, given[0] if given else None)
        return tuple(F.pad(x, (0, 0, 0, 1)) for x in merged), (chosen,)

    nodes = (F.pad(hidden, (0, 0, 0, 1)), F.pad(cell, (0, 0, 0, 1)))
    (hidden, cell), (chosen,) = scan(step, nodes, by_step)
    merges = chosen.t()  # (B, T), the last of them -1
    # An exported tensor of T - 1 columns would exclude T = 2, where torch treats it differently.
    return hidden[:, 0], cell[:, 0], merges if is_exporting() else merges[:, :-1]


def _allowed_pairs(mask: Tensor) -> Tensor:
    """Return which pairs of neighbors have tokens at each step, (T, B, T)."""
    index = torch.arange(mask.size(1), device=mask.device)
    pairs_left = mask.sum(1) - 1 - index.unsqueeze(1)  # (T, B)
    return index < pairs_left.unsqueeze(2)


def _merge(
    nodes: Tensors,
    allowed: Tensor,
    weights: TreeWeights,
    given: Optional[Tensor],
    noise: Optional[Tensor] = None,
    temperature: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Merge a pair of each sentence that has one.

    # Parameters

    nodes : `tuple[Tensor, Tensor]`
        h and c, (B, M + 1, H) each.
    allowed : `Tensor`
        Shape (B, M), bool; false in all of a row for a sentence that is one node.
    weights : `TreeWeights`
    given, noise, temperature
        Those of the step, as in `Choices`: (B) and (B, M).

    # Returns

    `tuple[Tensor, Tensor, Tensor]`
        h and c of the next layer (3.14), (B, M, H) each, and the chosen indices (B) or -1.
    """
    hidden, cell = nodes
    children = torch.cat([hidden[:, :-1], hidden[:, 1:]], -1)  # (B, M, 2H)
    candidates = tree_lstm_cell(
        F.linear(children, weights.weight, weights.bias), cell[:, :-1], cell[:, 1:]
    )
    if given is not None:
        choice = torch.arange(allowed.size(1), device=allowed.device) == given.unsqueeze(1)
        choice = (choice & allowed).to(hidden.dtype)  # (B, M), one-hot, or zero without a pair
    else:
        scores = (candidates[0] * weights.query).sum(-1)  # (B, M)
        if noise is not None:
            choice = straight_through(scores + noise, allowed, temperature).to(scores.dtype)
        else:
            best = choose_greedily(scores, allowed, weights.query).unsqueeze(1)  # (B, 1)
            choice = torch.zeros_like(scores).scatter(1, best, 1.0) * allowed
    merged_so_far = choice.cumsum(1)  # C, (B, M)
    copied_left = (1 - merged_so_far).unsqueeze(-1)
    copied_right = (merged_so_far - choice).unsqueeze(-1)  # C_{j-1}
    hidden, cell = (
        copied_left * old[:, :-1] + copied_right * old[:, 1:] + choice.unsqueeze(-1) * new
        for old, new in zip(nodes, candidates)
    )
    return hidden, cell, choice.argmax(1).masked_fill(~allowed[:, 0], -1)
