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
    """R nodes and K candidates; the tables from `gates` on are for a backward pass.

    With them, there are rows for all nodes and candidates, otherwise only for the remaining ones.
    """

    merges: Tensor  # (B, T - 1)
    hidden: Tensor  # (R, H)
    cell: Tensor  # (R, H)
    candidate_hidden: Tensor  # (K, H)
    candidate_cell: Tensor  # (K, H)
    gates: Optional[Tensor] = None  # (K, 5H): i, f_l, f_r, o, g
    children: Optional[Tensor] = None  # (K, 2): nodes; -1 in rows without a candidate
    #: Shape (P, 3): each parent's candidate, between its neighbors or -1.
    merged: Optional[Tensor] = None
    relaxed: Optional[Tensor] = None  # the steps' y (n, M), flat, if choices are sampled


class TreeStep(Arguments):
    """The arguments of a step; native/_tree.h describes them."""

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
    weight = backend.products.prepacked(torch.cat(weights.weight.chunk(2, 1)))
    bias = F.pad(weights.bias, (0, 5 * H))
    tables = _tables(hidden, sizes, choices, keep)
    tables.hidden[:N] = hidden
    tables.cell[:N] = cell
    # The roots of sentences that have finished their last step, and of sentences of one token.
    root_hidden = hidden[:B].clone()
    root_cell = cell[:B].clone()
    parents = hidden.new_empty(B, H)  # h of the last step's parents
    step = _step(sizes, weights.query, choices.temperature, tables)
    step.set(
        leaf_projections=linear(hidden, weight, bias),
        parent_projections=hidden.new_empty(N - B, 10 * H) if keep else None,
        parents=parents,
        root_hidden=root_hidden,
        root_cell=root_cell,
        last=tables.merges.new_empty(B),
    )
    if choices.merges is not None:
        step.set(given=choices.merges[:, : T - 1].contiguous())
    for number, n in enumerate(sizes[1:]):
        step.step = number
        step.n = n
        if choices.merges is None and choices.noise is not None:
            noise = choices.noise[number]
            step.set(noise=noise, noise_columns=noise.size(1))
        step.run("tree_forward")
        if number + 2 < T:
            step.set(products=linear(parents[: sizes[number + 2]], weight, bias))
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
    """Run the backward pass of `forward`."""
    hidden, _, weights = arguments
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
        hidden.new_zeros(B, H) if grad is None else grad.contiguous() for grad in gradients[:2]
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
    grad_query: Optional[Tensor] = None
    if tables.relaxed is not None:
        grad_query = grad_scores @ tables.candidate_hidden
    grad_weight: Optional[Tensor] = None
    if needed[2].weight:
        # The first argument is copied in another order, so it should be the smaller one.
        by_child = backend.products.product_over_rows(tables.hidden, grad_projections).t()
        grad_weight = torch.cat(by_child.chunk(2), 1)  # (10H, H) -> (5H, 2H)
    grad_bias = grad_projections[:, : 5 * H].sum(0)  # once for each pair
    return grad_hidden[:N], grad_cell[:N], (grad_weight, grad_bias, grad_query)


def _differentiate_scores(
    backend: Backend,
    step: TreeStep,
    pre_activations: Tensor,
    transposed: Tensor,
    tables: TreeTables,
) -> None:
    """Take the derivatives of all candidates' scores by their children, (K, 2H) each."""
    K, H = tables.candidate_hidden.shape
    by_hidden, by_cell = tables.candidate_hidden.new_empty(2, K, 2 * H)
    step.set(score_by_hidden=by_hidden, score_by_cell=by_cell)
    step.step = 1
    for first in range(0, K, CHUNK):
        n = min(CHUNK, K - first)
        step.first_candidate = first
        step.n = n
        step.run("tree_scores")
        by_hidden[first : first + n] = backend.products.linear(pre_activations[:n], transposed)


def _tables(
    hidden: Tensor,
    sizes: list[int],
    choices: Choices,
    keep: bool,
) -> TreeTables:
    """Return tables without values, except for `merges`."""
    N, H = hidden.shape
    B = sizes[0]
    T = len(sizes)
    R = N
    K = N - B
    if keep:  # Every merge except a sentence's last one makes two candidates.
        R = N + (N - B)
        K = (N - B) + 2 * (N - B - sizes[1])
    numbers = hidden.new_empty
    merges = torch.full((B, T - 1), -1, device="cpu")
    nodes = numbers(2, R, H)
    candidates = numbers(2, K, H)
    tables = TreeTables(merges, nodes[0], nodes[1], candidates[0], candidates[1])
    if not keep:
        return tables
    is_sampled = choices.merges is None and choices.noise is not None
    return tables._replace(
        gates=numbers(K, 5 * H),
        children=merges.new_empty(K, 2),
        merged=merges.new_empty(N - B, 3),
        relaxed=numbers(sum(_num_relaxed(sizes))) if is_sampled else None,
    )


def _num_relaxed(sizes: list[int]) -> list[int]:
    """Return the number of relaxed choices of each step."""
    return [n * (len(sizes) - 1 - step) for step, n in enumerate(sizes[1:])]


def _step(
    sizes: list[int],
    query: Tensor,
    temperature: float,
    tables: TreeTables,
) -> TreeStep:
    """Return the arguments of both passes."""
    B = sizes[0]
    T = len(sizes)
    H = tables.hidden.size(1)
    merges = tables.merges
    query = query.expand(H).contiguous()
    return TreeStep(
        query,
        H=H,
        num_tokens=T,
        num_leaves=sum(sizes),
        sizes=torch.tensor(sizes, device="cpu"),
        first=torch.tensor([0, *accumulate(sizes)], device="cpu"),
        lengths=lengths_of(sizes),
        first_relaxed=torch.tensor([0, *accumulate(_num_relaxed(sizes))], device="cpu"),
        query=query,
        constants=query.new_tensor([temperature, float(rounding_of_scores(query))]),
        nodes=merges.new_empty(B, T),
        candidates=merges.new_empty(B, T),
        scores=query.new_empty(B, T),
        logits=query.new_empty(B, T),
        **tables._asdict(),
    )
