r"""The composition and its gradient, compiled for CPUs: a step is a product and a pass over memory.

The C++ computes the candidates of new parents, chooses a pair in each sentence, and copies its
candidate to a parent; native/_tree.h describes the tables.

The backward pass undoes the layers from the root down. Each parent's gradient goes to its children
by a product of the cell's derivatives; all other nodes keep theirs. If the choices were sampled,
they have a gradient, too, through the scores of all candidates of their layer. With G the gradient
of the nodes r' of the layer above, the choice y of a layer has the gradient

    dy_j = candidate_j . G_j - sum_{m >= j} r_m . G_m + sum_{m > j} r_{m+1} . G_m
         = (candidate_j - r_j) . G_j + sum_{m > j} (r_{m+1} - r_m) . G_m                      (1)

and the gradient of candidate k's score, d_k, follows from the relaxation. A score q . h has one
vector D_k for each child of the candidate, the product of q with the candidate's Jacobian, and adds
d_k D_k to the child's gradient in every layer with this candidate. The derivatives of scores do not
depend on gradients, and are computed for all candidates at once. The sum of the pre-activations'
gradients over all pairs of a node on either side is the gradient of its projection: the weights'
gradient has a row for each node, not each candidate.
"""

from itertools import accumulate
from typing import NamedTuple, Optional

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.autograd import Gradients
from allennlp_sentmatch.nn.ops.common.native import Arguments, fields, num_threads
from allennlp_sentmatch.nn.ops.common.packing import lengths_of
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.naive import (
    Choices,
    TreeWeights,
    rounding_of_scores,
)

#: Candidates whose derivatives are computed at once: they must fit into the processor's caches.
CHUNK = 512

Leaves = tuple[Tensor, Tensor, TreeWeights]
"""The leaves' h and c, packed (N, H), and the weights."""


class TreeTables(NamedTuple):
    """The tables of R nodes, P of them parents, and K candidates.

    The tables from `gates` on are for a backward pass. With them, there are rows for all nodes and
    candidates, otherwise only for the remaining ones.

    # Attributes

    merges : `Tensor`
        (B, T - 1)
    hidden, cell : `Tensor`
        (R, H) each.
    candidate_hidden, candidate_cell : `Tensor`
        (K, H) each.
    gates : `Tensor`, optional (default = `None`)
        i, f_l, f_r, o and g, (K, 5H).
    children : `Tensor`, optional (default = `None`)
        The nodes (K, 2) of each candidate; -1 in rows without one.
    merged : `Tensor`, optional (default = `None`)
        Each parent's candidate between its neighbors or -1, (P, 3).
    relaxed : `Tensor`, optional (default = `None`)
        The steps' y (n, M), flat, if choices are sampled.
    """

    merges: Tensor
    hidden: Tensor
    cell: Tensor
    candidate_hidden: Tensor
    candidate_cell: Tensor
    gates: Optional[Tensor] = None
    children: Optional[Tensor] = None
    merged: Optional[Tensor] = None
    relaxed: Optional[Tensor] = None


class TreeStep(Arguments):
    """The arguments of a step; native/_tree.h describes them.

    `step` is the number of the layer, and `n` the number of sentences that merge a pair in it.
    """

    _fields_ = fields(
        "H num_tokens num_leaves step n noise_columns first_candidate",
        "sizes first lengths first_relaxed query constants merges hidden cell candidate_hidden "
        "candidate_cell gates children merged relaxed nodes candidates scores logits products "
        "given noise leaf_projections parent_projections parents root_hidden root_cell last "
        "grad_hidden grad_cell grad_projections pre_activations parents_cell buffer "
        "score_by_hidden score_by_cell grad_scores",
    )


def forward(
    backend: Backend,
    sizes: list[int],
    choices: Choices,
    arguments: Leaves,
    keep: bool,
) -> tuple[tuple[Tensor, Tensor, Tensor], TreeTables]:
    """Compose the leaves of a batch in which a sentence has two tokens or more.

    Return the roots' h and c, (B, H) each, and the merges, (B, T - 1); and the tables.
    """
    hidden, cell, weights = arguments
    N, H = hidden.shape
    B = sizes[0]
    T = len(sizes)
    linear = backend.products.linear
    # The weights of a left child with the bias, then of a right child: (10H, H), (10H)
    by_child = weights.weight.chunk(2, 1)
    weight = backend.products.prepacked(torch.cat(by_child))
    bias = F.pad(weights.bias, (0, 5 * H))
    tables = _tables(hidden, sizes, choices, keep)
    tables.hidden[:N] = hidden
    tables.cell[:N] = cell
    # The roots of sentences that have finished their last step, and of sentences of one token.
    root_hidden = hidden[:B].clone()
    root_cell = cell[:B].clone()
    parents = hidden.new_empty(B, H)  # h of the last step's parents
    parent_projections = hidden.new_empty(N - B, 10 * H) if keep else None
    step = _step(sizes, weights.query, choices.temperature, tables)
    step.set(
        leaf_projections=linear(hidden, weight, bias),
        parent_projections=parent_projections,
        parents=parents,
        root_hidden=root_hidden,
        root_cell=root_cell,
        last=tables.merges.new_empty(B),
    )
    if choices.merges is not None:
        given = choices.merges[:, : T - 1]
        step.set(given=given.contiguous())
    for number, n in enumerate(sizes[1:]):
        step.step = number
        step.n = n
        if choices.merges is None and choices.noise is not None:
            noise = choices.noise[number]
            step.set(noise=noise, noise_columns=noise.size(1))
        step.run("tree_forward")
        if number + 2 < T:
            with_next_step = parents[: sizes[number + 2]]
            step.set(products=linear(with_next_step, weight, bias))
    return (root_hidden, root_cell, tables.merges), tables


def backward(
    backend: Backend,
    sizes: list[int],
    choices: Choices,
    arguments: Leaves,
    tables: TreeTables,
    gradients: Gradients,
    needed: Leaves,
) -> tuple[Tensor, Tensor, Gradients]:
    """Run the backward pass of `forward`.

    Return the gradients of the leaves' h and c, (N, H) each, and of the weights.
    """
    hidden, _, weights = arguments
    _, _, needed_weights = needed
    N, H = hidden.shape
    B = sizes[0]
    T = len(sizes)
    R, _ = tables.hidden.shape
    linear = backend.products.linear
    transposed = backend.products.prepacked(weights.weight.t().contiguous())  # (2H, 5H)
    most_rows = max(B, min(CHUNK, len(tables.candidate_hidden)))
    pre_activations = hidden.new_empty(most_rows, 5 * H)
    grad_hidden, grad_cell = hidden.new_empty(2, R, H)
    grad_projections = hidden.new_zeros(R, 10 * H)
    root_hidden, root_cell = [
        hidden.new_zeros(B, H) if grad is None else grad.contiguous()
        for grad in gradients[:2]  # merges have none
    ]
    step = _step(sizes, weights.query, choices.temperature, tables)
    step.set(
        pre_activations=pre_activations,
        parents_cell=hidden.new_empty(B, H),
        buffer=hidden.new_empty(num_threads(), 6 * H),
        grad_hidden=grad_hidden,
        grad_cell=grad_cell,
        grad_projections=grad_projections,
        root_hidden=root_hidden,
        root_cell=root_cell,
    )
    grad_scores = hidden.new_zeros(len(tables.candidate_hidden))
    if tables.relaxed is not None:
        step.set(grad_scores=grad_scores)
        _differentiate_scores(backend, step, pre_activations, transposed, tables)
    for number in range(T - 2, -2, -1):  # also completes the leaves
        step.step = number
        step.n = sizes[number + 1]
        step.run("tree_backward")
        if number >= 0:
            step.set(products=linear(pre_activations[: step.n], transposed))  # (n, 2H)
    grad_query = None
    if tables.relaxed is not None:
        grad_query = grad_scores @ tables.candidate_hidden
    grad_weight = None
    if needed_weights.weight:
        # The first argument is copied in another order, so it should be the smaller one.
        by_child = backend.products.product_over_rows(tables.hidden, grad_projections)
        left_and_right = by_child.t().chunk(2)  # (5H, H) each
        grad_weight = torch.cat(left_and_right, 1)  # (5H, 2H)
    grad_left = grad_projections[:, : 5 * H]
    grad_bias = grad_left.sum(0)  # once for each pair
    return grad_hidden[:N], grad_cell[:N], (grad_weight, grad_bias, grad_query)


def _differentiate_scores(
    backend: Backend,
    step: TreeStep,
    pre_activations: Tensor,
    transposed: Tensor,
    tables: TreeTables,
) -> None:
    """Take the derivatives of all candidates' scores by their children's h and c, (K, 2H) each.

    `pre_activations` is a buffer (rows, 5H), and `transposed` is W_comp^T (2H, 5H). The derivatives
    become fields of the `step`.
    """
    K, H = tables.candidate_hidden.shape
    by_hidden, by_cell = tables.candidate_hidden.new_empty(2, K, 2 * H)
    step.set(score_by_hidden=by_hidden, score_by_cell=by_cell)
    step.step = 1
    for first in range(0, K, CHUNK):
        n = min(CHUNK, K - first)
        step.first_candidate = first
        step.n = n
        step.run("tree_scores")
        by_pre_activations = pre_activations[:n]
        by_hidden[first : first + n] = backend.products.linear(by_pre_activations, transposed)


def _tables(
    hidden: Tensor,
    sizes: list[int],
    choices: Choices,
    keep: bool,
) -> TreeTables:
    """Return tables without values for leaves `hidden` (N, H), except for `merges`, which are -1.

    `keep` is whether to make the tables of a backward pass, too.
    """
    N, H = hidden.shape
    B = sizes[0]
    T = len(sizes)
    num_merges = N - B
    R = N
    K = num_merges  # the number of pairs of neighbors among the leaves
    if keep:  # Every merge except a sentence's last one makes two candidates.
        R += num_merges
        K += 2 * (num_merges - sizes[1])
    numbers = hidden.new_empty
    merges = torch.full((B, T - 1), -1, device="cpu")
    nodes = numbers(2, R, H)
    candidates = numbers(2, K, H)
    tables = TreeTables(merges, nodes[0], nodes[1], candidates[0], candidates[1])
    if not keep:
        return tables
    relaxed = None
    if choices.merges is None and choices.noise is not None:
        relaxed = numbers(sum(_num_relaxed(sizes)))
    return tables._replace(
        gates=numbers(K, 5 * H),
        children=merges.new_empty(K, 2),
        merged=merges.new_empty(num_merges, 3),
        relaxed=relaxed,
    )


def _num_relaxed(sizes: list[int]) -> list[int]:
    """Return the number of relaxed choices of each step: of n sentences, M each."""
    num_pairs = range(len(sizes) - 1, 0, -1)  # M, in a sentence as long as the batch
    return [n * M for n, M in zip(sizes[1:], num_pairs)]


def _step(
    sizes: list[int],
    query: Tensor,
    temperature: float,
    tables: TreeTables,
) -> TreeStep:
    """Return the arguments of both passes: the tables, the query (H), and buffers.

    `sizes` are the numbers of sentences that have a token t, at least two of them.
    """
    B = sizes[0]
    T = len(sizes)
    H = tables.hidden.size(1)
    merges = tables.merges
    query = query.expand(H).contiguous()
    rounding = float(rounding_of_scores(query))
    first_rows = [0, *accumulate(sizes)]
    first_relaxed = [0, *accumulate(_num_relaxed(sizes))]
    return TreeStep(
        query,
        H=H,
        num_tokens=T,
        num_leaves=sum(sizes),
        sizes=torch.tensor(sizes, device="cpu"),
        first=torch.tensor(first_rows, device="cpu"),
        lengths=lengths_of(sizes),
        first_relaxed=torch.tensor(first_relaxed, device="cpu"),
        query=query,
        constants=query.new_tensor([temperature, rounding]),
        nodes=merges.new_empty(B, T),
        candidates=merges.new_empty(B, T),
        scores=query.new_empty(B, T),
        logits=query.new_empty(B, T),
        **tables._asdict(),
    )
