"""Binary trees over sentences, represented by the sequences of their merges.

A tree over N tokens is a sequence of N - 1 merges. Each merge is the index, counted from 0, of the
pair's left node among the remaining nodes. Batches are padded with -1.
"""

from collections.abc import Sequence
from typing import Union

import torch

from allennlp_sentmatch.nn.ops.backends import is_compiling_or_tracing


def bracketing(merges: Union[torch.Tensor, Sequence[int]], tokens: Sequence[str]) -> str:
    """Render a tree as nested parentheses, such as "((the cat) (sat down))".

    # Parameters

    merges : `torch.Tensor` or `Sequence[int]`
        One sentence's row of `TreeComposition.merges`. Entries after the first `len(tokens) - 1`
        are ignored.
    tokens : `Sequence[str]`
        The sentence's tokens. Parentheses in them are written as -LRB- and -RRB-, as in the Penn
        Treebank.

    # Returns

    `str`
        Empty for a sentence without tokens.

    # Raises

    `ValueError`
        If `merges` is not a tree over that many tokens.
    """
    nodes = [token.replace("(", "-LRB-").replace(")", "-RRB-") for token in tokens]
    indices = [int(index) for index in merges]
    if len(indices) < len(nodes) - 1:
        raise ValueError(
            f"merges must hold {len(nodes) - 1} steps for {len(nodes)} tokens, got {len(indices)}"
        )
    for step, index in enumerate(indices[: max(len(nodes) - 1, 0)]):
        if not 0 <= index < len(nodes) - 1:
            raise ValueError(
                f"merges[{step}] must lie between 0 and {len(nodes) - 2}, for {len(nodes)} nodes "
                f"are left of {len(tokens)} tokens; got {index}"
            )
        nodes[index : index + 2] = [f"({nodes[index]} {nodes[index + 1]})"]
    return nodes[0] if nodes else ""


def check_merges(merges: torch.Tensor, mask: torch.Tensor) -> None:
    """Check that `merges` holds a tree over each sentence.

    # Parameters

    merges : `torch.Tensor`
        Shape (batch_size, sequence_length - 1), long, as in `TreeComposition.merges`. The values
        are not checked under `torch.compile` and `torch.export`.
    mask : `torch.Tensor`
        Shape (batch_size, sequence_length), bool, right-padded.

    # Raises

    `TypeError`
        If `merges` has another type.
    `ValueError`
        If `merges` has another shape or holds an index without a pair.
    """
    if merges.dtype != torch.long:
        raise TypeError(f"merges must be long, got {merges.dtype}; call merges.long()")
    steps = max(mask.size(1) - 1, 0)
    if merges.shape != (mask.size(0), steps):
        raise ValueError(
            f"merges must have the shape (batch_size, sequence_length - 1) = "
            f"{(mask.size(0), steps)}, got {tuple(merges.shape)}"
        )
    if is_compiling_or_tracing():
        return
    pairs = mask.sum(1, keepdim=True) - 1 - torch.arange(steps, device=mask.device)  # (B, T - 1)
    wrong = ((merges < 0) | (merges >= pairs)) & (pairs > 0)
    if wrong.any():
        row, step = (int(index) for index in wrong.nonzero()[0])
        raise ValueError(
            f"merges[{row}, {step}] must lie between 0 and {int(pairs[row, step]) - 1}, "
            f"got {int(merges[row, step])}"
        )
