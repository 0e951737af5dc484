"""The composition layer by layer; the equations are in `nn/gumbel_tree_lstm.py`.

Each layer computes all of its candidates. The choice of a pair is a product with copy masks
(3.14-3.20), through which it has a gradient.
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.autograd import zero_of
from allennlp_sentmatch.nn.ops.common.execution import is_exporting
from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, scan
from allennlp_sentmatch.nn.ops.common.straight_through import straight_through


class TreeWeights(NamedTuple):
    """The parameters of the composition: W_comp (5H, 2H), b_comp (5H) and q (H)."""

    weight: Tensor
    bias: Tensor
    query: Tensor


class Choices(NamedTuple):
    """The choice of pairs: by given trees, or sampled with given noise, or else greedily.

    # Attributes

    merges : `Optional[Tensor]`
        Given trees, (B, T - 1).
    noise : `Optional[Sequence[Tensor]]`
        Gumbel noise of each layer: (B, T - 1), (B, T - 2), ..., (B, 1).
    temperature : `float`
        The temperature of the relaxation of a sampled choice.
    """

    merges: Optional[Tensor]
    noise: Optional[Sequence[Tensor]]
    temperature: float

    def of_sentences(self, indices: Tensor) -> "Choices":
        """Return the choices for the sentences with these `indices` (K), in this order."""
        merges = self.merges
        if merges is not None:
            merges = merges[indices]
        noise = self.noise
        if noise is not None:
            noise = [layer[indices] for layer in noise]
        return Choices(merges, noise, self.temperature)


def tree_recurrence(
    hidden: Tensor,
    cell: Tensor,
    mask: Tensor,
    weights: TreeWeights,
    choices: Choices,
) -> tuple[Tensor, Tensor, Tensor]:
    """Implement the function of the same name in `ops.gumbel_tree_lstm.recurrence`.

    Each layer has one node less than the layer before, in all sentences.
    """
    allowed = _allowed_pairs(mask)  # (T, B, T)
    nodes = torch.cat([hidden, cell], -1)
    num_merges = mask.size(1) - 1
    chosen: list[Tensor] = []
    for step in range(num_merges):
        of_pairs = allowed[step, :, : num_merges - step]
        given = None if choices.merges is None else choices.merges[:, step]
        noise = None if choices.noise is None else choices.noise[step]
        nodes, merges = _merge(nodes, of_pairs, weights, given, noise, choices.temperature)
        chosen.append(merges)
    # One node is left, or none if the batch has no steps; hence the sums.
    root_hidden, root_cell = nodes.sum(1).chunk(2, -1)
    if chosen:
        return root_hidden, root_cell, torch.stack(chosen, 1)
    no_merges = torch.empty(len(mask), 0, dtype=torch.long, device=mask.device)
    return root_hidden + zero_of(*weights), root_cell, no_merges


def scanned_recurrence(
    hidden: Tensor,
    cell: Tensor,
    mask: Tensor,
    weights: TreeWeights,
    choices: Choices,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the same with layers of a fixed size, without sampling, for `scan`.

    Each step has all T pairs of T + 1 nodes, those at padding included, and there is one step more
    than merges, so that a batch of one token has a step.
    """
    by_step = [_allowed_pairs(mask)]
    if choices.merges is not None:
        padded_merges = F.pad(choices.merges, (0, 1))
        by_step.append(padded_merges.t())  # (T, B)

    def step(state: Tensors, at_step: Tensors) -> StepResult:
        (nodes,) = state  # (B, T + 1, 2H)
        allowed, *rest = at_step  # (B, T), and (B)
        given = rest[0] if rest else None
        merged, chosen = _merge(nodes, allowed, weights, given)
        return (F.pad(merged, (0, 0, 0, 1)),), (chosen,)

    leaves = torch.cat([hidden, cell], -1)
    nodes = F.pad(leaves, (0, 0, 0, 1))
    (nodes,), (chosen,) = scan(step, (nodes,), by_step)
    root_hidden, root_cell = nodes[:, 0].chunk(2, -1)
    merges = chosen.t()  # (B, T), the last of them -1
    # An exported tensor of T - 1 columns would exclude T = 2, where torch treats it differently.
    return root_hidden, root_cell, merges if is_exporting() else merges[:, :-1]


def _allowed_pairs(mask: Tensor) -> Tensor:
    """Return which pairs of neighbors have tokens at each step, (T, B, T)."""
    index = torch.arange(mask.size(1), device=mask.device)
    pairs_at_first = mask.sum(1) - 1  # (B)
    pairs_left = pairs_at_first - index.unsqueeze(1)  # (T, B)
    return index < pairs_left.unsqueeze(2)


def _merge(
    nodes: Tensor,
    allowed: Tensor,
    weights: TreeWeights,
    given: Optional[Tensor],
    noise: Optional[Tensor] = None,
    temperature: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """Merge a pair of each sentence that has one.

    `nodes` (B, M + 1, 2H) are [h; c]. `allowed` (B, M) is false in the whole row of a sentence with
    only one node. `given` (B), `noise` (B, M) and `temperature` belong to the step; see `Choices`.
    Return the next layer (3.14), (B, M, 2H), and the chosen indices (B) or -1.
    """
    H = weights.query.size(0)
    pairs = nodes.unfold(1, 2, 1).transpose(2, 3)  # (B, M, 2, 2H)
    children, cells = pairs.split(H, -1)  # (B, M, 2, H) each
    candidates = _compose(children, cells, weights)  # (B, M, 2H)
    if given is None:
        scores = candidates[..., :H] @ weights.query  # (B, M)
        choice = _choose(scores, allowed, weights.query, noise, temperature)
    else:
        index = torch.arange(allowed.size(1), device=allowed.device)
        is_given = (index == given.unsqueeze(1)) & allowed
        choice = is_given.to(nodes.dtype)  # (B, M), one-hot, or zero without a pair
    merged_so_far = choice.cumsum(1)  # C, (B, M)
    merged_before = merged_so_far - choice  # C_{j-1}
    masks = torch.stack([1 - merged_so_far, merged_before, choice], -1)  # (B, M, 3)
    sources = torch.cat([pairs, candidates.unsqueeze(2)], 2)  # (B, M, 3, 2H)
    copies = masks.unsqueeze(-1) * sources
    has_pair = allowed[:, 0]  # (B)
    chosen = choice.argmax(1).masked_fill(~has_pair, -1)
    return copies.sum(2), chosen


def _compose(
    children: Tensor,
    cells: Tensor,
    weights: TreeWeights,
) -> Tensor:
    """Return the parents [h; c] (B, M, 2H) of M pairs of each sentence.

    `children` and `cells` are h and c of both children, (B, M, 2, H) each.
    """
    H = weights.query.size(0)
    both_hidden = children.flatten(2)  # [h_l; h_r], (B, M, 2H)
    pre_activations = F.linear(both_hidden, weights.weight, weights.bias)  # (3.1)
    by_gate = pre_activations.unflatten(-1, (5, H))  # (B, M, 5, H)
    of_sigmoid, g = by_gate.split([4, 1], -2)
    gates, o = of_sigmoid.sigmoid().split([3, 1], -2)
    sources = torch.cat([g.tanh(), cells], -2)  # g, c_l and c_r, whose gates are i, f_l and f_r
    cell = (gates * sources).sum(-2)  # (3.2)
    hidden = o.squeeze(-2) * cell.tanh()  # (3.3)
    return torch.cat([hidden, cell], -1)


def _choose(
    scores: Tensor,
    allowed: Tensor,
    query: Tensor,
    noise: Optional[Tensor],
    temperature: float,
) -> Tensor:
    """Return the choice y (B, M) by the scores (B, M), one-hot, or zero without a pair.

    With `noise` (B, M), it is a sample with the gradient of its relaxation at this `temperature`;
    without it, it is the best pair, and has no gradient. `query` (H) is the vector that scores.
    """
    if noise is not None:
        sampled = straight_through(scores + noise, allowed, temperature)
        return sampled.to(scores.dtype)
    best = choose_greedily(scores, allowed, query).unsqueeze(1)  # (B, 1)
    return torch.zeros_like(scores).scatter(1, best, 1.0) * allowed


def choose_greedily(
    scores: Tensor,
    allowed: Tensor,
    query: Tensor,
) -> Tensor:
    """Choose the best pair of each sentence, the leftmost among equally good ones.

    Pairs of the same words have equal scores up to rounding, which depends on the rest of the
    batch. Scores within the rounding error count as equal, so that the tree does not depend on the
    batch.

    The scores (B, M) are products of the query (H) with vectors whose elements are in [-1, 1].
    Return indices (B), 0 in a row where no pair is `allowed` (B, M).
    """
    scores = scores.masked_fill(~allowed, -torch.inf)
    lowest_best = scores.amax(1, keepdim=True) - rounding_of_scores(query)  # (B, 1)
    is_best: Tensor = scores >= lowest_best  # (B, M)
    return is_best.to(torch.uint8).argmax(1)


def rounding_of_scores(query: Tensor) -> Tensor:
    """Return the difference below which scores count as equal, a scalar.

    The `query` (H) is the vector that scores.
    """
    rounding: Tensor = 16 * torch.finfo(query.dtype).eps * query.norm()
    return rounding
