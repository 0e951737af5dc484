"""The composition with layers of a fixed size, of which `scan` can make a loop."""

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.scan import StepResult, Tensors, is_exporting, scan
from allennlp_sentmatch.nn.ops.tree import naive
from allennlp_sentmatch.nn.ops.tree.choices import Choices
from allennlp_sentmatch.nn.ops.tree.weights import TreeWeights


def tree_recurrence(
    hidden: Tensor, cell: Tensor, mask: Tensor, weights: TreeWeights, choices: Choices
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the function of the same name in `recurrence`, without sampling.

    Each step has all T pairs of T + 1 nodes, those at padding included, and there is one step more
    than merges, so that a batch of one token has a step.
    """
    T = mask.size(1)
    index = torch.arange(T, device=mask.device)
    pairs_left = mask.sum(1) - 1 - index.unsqueeze(1)  # (T, B)
    allowed = index < pairs_left.unsqueeze(2)  # (T, B, T)
    by_step = [allowed]
    if choices.merges is not None:
        merges = F.pad(choices.merges, (0, 1)).t()  # (T, B)
        by_step.append((index == merges.unsqueeze(2)) & allowed)

    def step(nodes: Tensors, at_step: Tensors) -> StepResult:
        allowed, *given = at_step  # (B, T)
        hidden, cell = nodes  # (B, T + 1, H) each
        candidates = naive.candidates(hidden, cell, weights)  # (B, T, H) each
        if given:
            choice = given[0].to(cell.dtype)
        else:
            scores = (candidates[0] * weights.query).sum(-1)
            choice = naive.choose_best(scores, allowed, weights.query)
        nodes = tuple(
            F.pad(naive.copy_or_merge(choice, old, new), (0, 0, 0, 1))
            for old, new in zip(nodes, candidates)
        )
        return nodes, (choice.argmax(1).masked_fill(~allowed[:, 0], -1),)

    nodes = (F.pad(hidden, (0, 0, 0, 1)), F.pad(cell, (0, 0, 0, 1)))
    (hidden, cell), (chosen,) = scan(step, nodes, by_step)
    merges = chosen.t()  # (B, T), the last of them -1
    # An exported tensor of T - 1 columns would exclude T = 2, where torch treats it differently.
    return hidden[:, 0], cell[:, 0], merges if is_exporting() else merges[:, :-1]
