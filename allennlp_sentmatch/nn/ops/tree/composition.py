r"""Gumbel Tree-LSTM composition in a linear number of cell evaluations.

A merge changes two candidates, the pairs that the parent makes with its neighbors; all others are
kept. As W_comp [h_l; h_r] = W_l h_l + W_r h_r, each node is projected once for either side, and a
candidate costs only element-wise work. Sentences leave the batch with their last merge. The
backward pass, in `gradient`, is linear in the same sense.
"""

from typing import Any, NamedTuple, Optional

import torch
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward
from allennlp_sentmatch.nn.ops.common.packing import Packing
from allennlp_sentmatch.nn.ops.common.products import product
from allennlp_sentmatch.nn.ops.tree.gradient import backward, leaf_rows, new_pairs
from allennlp_sentmatch.nn.tree_lstm_cell import tree_lstm_cell
from allennlp_sentmatch.nn.tree_merges import choose_greedily


class Choices(NamedTuple):
    """How to choose a pair: given trees, else sampled with given noise, else greedily."""

    merges: Optional[torch.Tensor]
    noise: Optional[list[torch.Tensor]]
    temperature: float


def compose_cached(
    hidden: torch.Tensor,
    cell: torch.Tensor,
    mask: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    query: torch.Tensor,
    choices: Choices,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compose each sentence's leaves into one node.

    # Parameters

    hidden, cell : `torch.Tensor`
        Shape (B, T, H): the leaves.
    mask : `torch.Tensor`
        Shape (B, T), bool, right-padded, not all of it false.
    weight, bias, query : `torch.Tensor`
        Shapes (5H, 2H), (5H) and (H): W_comp, b_comp and q.
    choices : `Choices`
        Of `merges`, shape (B, T - 1); or of `noise`, Gumbel noise for each layer's candidates,
        shapes (B, T - 1), (B, T - 2), ..., (B, 1).

    # Returns

    `Tuple[torch.Tensor, torch.Tensor, torch.Tensor]`
        The roots' h and c (B, H), and the merges (B, T - 1), as in `TreeComposition`.
    """
    packing = Packing.of(mask, bidirectional=False)
    # The sentences in the packing's order, longest first; empty ones have no place in it.
    first_tokens = packing.places[0, : packing.sizes[0]]
    order = torch.div(first_tokens, mask.size(1), rounding_mode="floor")
    if choices.merges is not None:
        choices = choices._replace(merges=choices.merges[order])
    elif choices.noise is not None:
        choices = choices._replace(noise=[layer[order] for layer in choices.noise])
    arguments = (packing.pack(hidden)[0], packing.pack(cell)[0], weight, bias, query)
    lengths = mask.sum(1)[order]
    if torch.is_grad_enabled() and any(x.requires_grad for x in arguments):
        root_hidden, root_cell, merges = _CachedComposition.apply(  # type: ignore[no-untyped-call]
            *arguments, lengths, packing.sizes, choices
        )
    else:
        trace = _merge_all(*arguments, lengths, packing.sizes, choices, keep=False)
        root_hidden, root_cell, merges = trace.root_hidden, trace.root_cell, trace.merges
    B, steps = mask.size(0), mask.size(1) - 1
    return (
        hidden.new_zeros(B, hidden.size(2)).index_copy(0, order, root_hidden),
        cell.new_zeros(B, cell.size(2)).index_copy(0, order, root_cell),
        merges.new_full((B, steps), -1).index_copy(
            0, order, F.pad(merges, (0, steps - merges.size(1)), value=-1)
        ),
    )


class _CachedComposition(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: torch.Tensor,
        cell: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor,
        query: torch.Tensor,
        lengths: torch.Tensor,
        sizes: list[int],
        choices: Choices,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        trace = _merge_all(hidden, cell, weight, bias, query, lengths, sizes, choices, keep=True)
        ctx.save_for_backward(
            torch.cat(trace.nodes), trace.merges, lengths, weight, bias, query, *trace.relaxed
        )
        ctx.sizes, ctx.temperature = sizes, choices.temperature
        ctx.mark_non_differentiable(trace.merges)
        return trace.root_hidden, trace.root_cell, trace.merges

    @staticmethod
    @analytic_backward
    def backward(
        ctx: Any, root_hidden: torch.Tensor, root_cell: torch.Tensor, _: torch.Tensor
    ) -> tuple[Optional[torch.Tensor], ...]:
        nodes, merges, lengths, weight, bias, query, *relaxed = ctx.saved_tensors
        gradients = backward(
            torch.cat([root_hidden, root_cell], 1),
            nodes,
            merges,
            lengths,
            ctx.sizes,
            weight,
            bias,
            query,
            relaxed,
            ctx.temperature,
        )
        return (*gradients, None, None, None)


class _Trace(NamedTuple):
    """What the forward pass leaves, for B sentences of at most T tokens; the last two if kept."""

    root_hidden: torch.Tensor  # (B, H)
    root_cell: torch.Tensor  # (B, H)
    merges: torch.Tensor  # (B, T - 1)
    nodes: list[torch.Tensor]  # [h; c] of the leaves (N, 2H), then of each step's parents (n, 2H)
    relaxed: list[torch.Tensor]  # if sampled, each step's relaxed choice y (n, M)


def _merge_all(
    hidden: torch.Tensor,
    cell: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    query: torch.Tensor,
    lengths: torch.Tensor,
    sizes: list[int],
    choices: Choices,
    keep: bool,
) -> _Trace:
    H = query.size(0)
    device = hidden.device
    B, T = sizes[0], len(sizes)
    nodes = [torch.cat([hidden, cell], 1)] if keep else []
    # A node lives in the row of its leftmost leaf, its candidate with the next node beside it.
    rows = leaf_rows(sizes, device)  # (B, T), of the nodes left, from left to right
    cell = cell.clone()  # (N, H)
    weight, bias = torch.cat(weight.chunk(2, 1)), F.pad(bias, (0, 5 * H))  # (10H, H), (10H)
    projected = product(hidden, weight).add_(bias)  # (N, 10H), as a left child; as a right one
    candidate_hidden, candidate_cell = torch.zeros_like(cell), torch.zeros_like(cell)
    scores = cell.new_zeros(B, T - 1)

    def compute_candidates(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """Candidates of nodes in these rows, (K); their scores (K)."""
        new_hidden, new_cell = tree_lstm_cell(
            projected[:, : 5 * H].index_select(0, left)
            + projected[:, 5 * H :].index_select(0, right),
            cell.index_select(0, left),
            cell.index_select(0, right),
        )
        candidate_hidden.index_copy_(0, left, new_hidden)
        candidate_cell.index_copy_(0, left, new_cell)
        return (new_hidden * query).sum(1)

    pairs_left = (lengths - 1).unsqueeze(1)  # (B, 1)
    allowed = torch.arange(T - 1, device=device) < pairs_left  # (B, T - 1)
    scores[allowed] = compute_candidates(rows[:, :-1][allowed], rows[:, 1:][allowed])
    merges = torch.full((B, T - 1), -1, dtype=torch.long, device=device)
    relaxed: list[torch.Tensor] = []
    root_hidden, root_cell = hidden[:B].clone(), cell[:B].clone()  # of sentences of one token
    for step in range(T - 1):
        n = sizes[step + 1]  # sentences that have something to merge
        rows, scores, allowed, pairs_left = rows[:n], scores[:n], allowed[:n], pairs_left[:n]
        chosen, soft = _choose(scores, allowed, query, step, choices, keep)
        merges[:n, step] = chosen
        chosen = chosen.unsqueeze(1)  # (n, 1)
        parent = rows.gather(1, chosen).squeeze(1)  # (n): the parent takes its left child's row
        parent_hidden = candidate_hidden.index_select(0, parent)  # (n, H)
        parent_cell = candidate_cell.index_select(0, parent)
        root_hidden[:n], root_cell[:n] = parent_hidden, parent_cell
        if keep:
            nodes.append(torch.cat([parent_hidden, parent_cell], 1))
        if soft is not None:
            relaxed.append(soft)
        n = sizes[step + 2] if step + 2 < T else 0  # those not done yet
        if n == 0:
            break
        chosen, parent = chosen[:n], parent[:n]
        cell.index_copy_(0, parent, parent_cell[:n])
        projected.index_copy_(0, parent, product(parent_hidden[:n], weight).add_(bias))
        # The right child and the chosen candidate go; what is right of them moves up.
        position = torch.arange(T - 1 - step, device=device)
        rows = torch.where(position <= chosen, rows[:n, :-1], rows[:n, 1:])
        scores = torch.where(position[:-1] < chosen, scores[:n, :-1], scores[:n, 1:])
        pairs_left = pairs_left[:n] - 1
        allowed = position[:-1] < pairs_left
        # The parent's pairs with its neighbors. At an end of the sentence there is but one, then
        # computed twice to the same effect.
        new = new_pairs(chosen, pairs_left)  # (n, 2)
        left, right = (rows.gather(1, pair).view(-1) for pair in (new, new + 1))  # (2n)
        scores = scores.scatter(1, new, compute_candidates(left, right).view(n, 2))
    return _Trace(root_hidden, root_cell, merges, nodes, relaxed)


def _choose(
    scores: torch.Tensor,
    allowed: torch.Tensor,
    query: torch.Tensor,
    step: int,
    choices: Choices,
    keep: bool,
) -> tuple[torch.Tensor, Optional[torch.Tensor]]:
    """The positions chosen (n) and, if sampled and to be kept, the relaxed choice (n, M)."""
    if choices.merges is not None:
        return choices.merges[: scores.size(0), step], None
    if choices.noise is None:
        return choose_greedily(scores, allowed, query), None
    n, M = scores.shape
    logits = (scores + choices.noise[step][:n, :M]).masked_fill(~allowed, -torch.inf)
    return logits.argmax(1), (logits / choices.temperature).softmax(1) if keep else None
