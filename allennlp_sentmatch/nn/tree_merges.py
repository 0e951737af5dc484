"""Binary trees over a sentence as the sequence of their merges.

A tree over N tokens is N - 1 positions: at each step, where among the nodes then left the left
node of the merged pair stands, counted from 0. Batches are padded with -1.
"""

from collections.abc import Sequence
from typing import Union

import torch


def choose_greedily(
    scores: torch.Tensor, allowed: torch.Tensor, query: torch.Tensor
) -> torch.Tensor:
    """The best pair of each sentence, the leftmost where several are equally good.

    Pairs of the same words have the same score but for rounding, which depends on what else is in
    the batch. So that the tree does not, scores count as equal if rounding can set them apart.

    # Parameters

    scores : `torch.Tensor`
        Shape (B, M), products of `query` with vectors in [-1, 1].
    allowed : `torch.Tensor`
        Shape (B, M), bool.
    query : `torch.Tensor`
        Shape (H).

    # Returns

    `torch.Tensor`
        Shape (B), positions; 0 where none is allowed.
    """
    scores = scores.masked_fill(~allowed, -torch.inf)
    rounding = 16 * torch.finfo(scores.dtype).eps * query.norm()
    best: torch.Tensor = scores >= scores.amax(1, keepdim=True) - rounding  # (B, M)
    return best.to(torch.uint8).argmax(1)


def bracketing(merges: Union[torch.Tensor, Sequence[int]], tokens: Sequence[str]) -> str:
    """A tree as nested parentheses, such as "((the cat) (sat down))".

    # Parameters

    merges : `torch.Tensor` or `Sequence[int]`
        One sentence's row of `TreeComposition.merges`; what follows its first
        `len(tokens) - 1` entries is left out of account.
    tokens : `Sequence[str]`
        The sentence's tokens. As in the Penn Treebank, a parenthesis among them becomes -LRB- or
        -RRB-.

    # Returns

    `str`
        Empty for a sentence without tokens.

    # Raises

    `ValueError`
        If `merges` is no tree over that many tokens.
    """
    nodes = [token.replace("(", "-LRB-").replace(")", "-RRB-") for token in tokens]
    positions = [int(position) for position in merges]
    if len(positions) < len(nodes) - 1:
        raise ValueError(
            f"merges must hold {len(nodes) - 1} steps for {len(nodes)} tokens, got {len(positions)}"
        )
    for step, position in enumerate(positions[: max(len(nodes) - 1, 0)]):
        if not 0 <= position < len(nodes) - 1:
            raise ValueError(
                f"merges[{step}] must lie between 0 and {len(nodes) - 2}, for {len(nodes)} nodes "
                f"are left of {len(tokens)} tokens; got {position}"
            )
        nodes[position : position + 2] = [f"({nodes[position]} {nodes[position + 1]})"]
    return nodes[0] if nodes else ""


def check_merges(merges: torch.Tensor, mask: torch.Tensor) -> None:
    """Make sure that there is a tree over each sentence to compose along.

    # Parameters

    merges : `torch.Tensor`
        Shape (batch_size, sequence_length - 1), as in `TreeComposition.merges`.
    mask : `torch.Tensor`
        Shape (batch_size, sequence_length), bool, right-padded.

    # Raises

    `ValueError`
        If `merges` has another shape or holds a position where there is no pair to merge.
    """
    steps = max(mask.size(1) - 1, 0)
    if merges.shape != (mask.size(0), steps):
        raise ValueError(
            f"merges must have the shape (batch_size, sequence_length - 1) = "
            f"{(mask.size(0), steps)}, got {tuple(merges.shape)}"
        )
    pairs = mask.sum(1, keepdim=True) - 1 - torch.arange(steps, device=mask.device)  # (B, T - 1)
    wrong = ((merges < 0) | (merges >= pairs)) & (pairs > 0)
    if wrong.any():
        row, step = (int(index) for index in wrong.nonzero()[0])
        raise ValueError(
            f"merges[{row}, {step}] must lie between 0 and {int(pairs[row, step]) - 1}, "
            f"got {int(merges[row, step])}"
        )
