r"""The gradient of the composition by `eager`, with a linear number of products.

In training, the gradient of the choice y also flows through the copy masks of

    r'_j = (1 - C_j) r_j + C_{j-1} r_{j+1} + y_j candidate_j,   C = cumsum(y)       (3.14-3.20)

so that with the gradient G of the next layer's nodes r', the gradient of y is

    dy_i = candidate_i . G_i - sum_{j >= i} r_j . G_j + sum_{j > i} r_{j+1} . G_j

Every candidate of every layer, even if kept from the layer below, contributes to the nodes'
gradient. Apart from the chosen candidate's, these contributions come from the scores q . h, and so
they are multiples, by the score's gradient, of one vector per candidate: the product of q with the
candidate's Jacobian. It is computed once per candidate and only scaled and added in each layer.
This is exactly the gradient of the naive form, regrouped.
"""

from typing import Callable, NamedTuple, Optional

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.tree.arguments import Weights
from allennlp_sentmatch.nn.ops.tree.eager import Sentences, new_pairs

#: Maps gradients of pre-activations (K, 5H) to those of the children's h side by side (K, 2H).
_ToChildren = Callable[[Tensor], Tensor]


class Gradients(NamedTuple):
    """The gradients of the packed leaves and the weights."""

    hidden: Tensor  # (N, H)
    cell: Tensor  # (N, H)
    weight: Tensor
    bias: Tensor
    query: Optional[Tensor]  # `None` if the choices were not sampled


def backward(
    backend: Backend,
    root: Tensor,
    nodes: Tensor,
    merges: Tensor,
    sentences: Sentences,
    weights: Weights,
    relaxed: list[Tensor],
    temperature: float,
) -> Gradients:
    """Run the backward pass of `eager.forward`.

    # Parameters

    backend : `Backend`
    root : `Tensor`
        Shape (B, 2H): the gradient of the roots' [h; c].
    nodes : `Tensor`
        Shape (2N - B, 2H): [h; c] of the packed leaves, then of each step's parents.
    merges : `Tensor`
        Shape (B, T - 1).
    sentences : `Sentences`
    weights : `Weights`
    relaxed : `List[Tensor]`
        Each step's y (n, M); empty if the choices were not sampled and so have no gradient.
    temperature : `float`
        The temperature of the relaxation.
    """
    H = weights.query.size(0)
    layers, left, right = _replay(merges, sentences, parents_only=not relaxed)
    children = torch.cat([nodes[:, :H].index_select(0, side) for side in (left, right)], 1)
    derivatives = _Derivatives.of(
        backend.products.product(children, weights.weight).add_(weights.bias),  # (K, 5H)
        nodes[:, H:].index_select(0, left),
        nodes[:, H:].index_select(0, right),
    )
    transposed = weights.weight.t().contiguous()  # (2H, 5H)

    def to_children(grad_pre_activations: Tensor) -> Tensor:
        """Return the gradients of the children's h side by side, (K, 2H)."""
        return backend.products.product(grad_pre_activations, transposed)

    grad_pre_activations = torch.zeros_like(derivatives.gates).flatten(1)  # (K, 5H)
    choices = None
    if relaxed:
        choices = _ChoiceGradients(nodes, derivatives, weights.query, to_children, temperature)
    B, T = sentences.sizes[0], len(sentences.sizes)
    grad_nodes = nodes.new_zeros(B, T, 2 * H)  # G, of the next layer's nodes
    grad_nodes[:, 0] = root
    for step in range(len(layers) - 1, -1, -1):
        layer = layers[step]
        n, M = layer.nodes.size(0), layer.nodes.size(1) - 1
        above = grad_nodes[:n, :M]
        below = _through_copies(layer, above, derivatives, to_children, grad_pre_activations)
        if choices is not None:
            choices.add_to(below, layer, above, relaxed[step])
        grad_nodes[:n, : M + 1] = below
    grad_query = None
    if choices is not None:
        grad_pre_activations += choices.grad_pre_activations()
        grad_query = choices.grad_scores @ derivatives.state[:, :H]
    tokens = torch.arange(T, device=nodes.device).unsqueeze(1) < sentences.lengths  # (T, B)
    grad_hidden, grad_cell = grad_nodes.transpose(0, 1)[tokens].chunk(2, 1)  # (N, H)
    return Gradients(
        hidden=grad_hidden,
        cell=grad_cell,
        weight=backend.products.product_over_rows(grad_pre_activations, children),
        bias=grad_pre_activations.sum(0),
        query=grad_query,
    )


def _through_copies(
    layer: "_Layer",
    above: Tensor,
    derivatives: "_Derivatives",
    to_children: _ToChildren,
    grad_pre_activations: Tensor,
) -> Tensor:
    """Return the gradients of a layer's nodes, (n, M + 1, 2H), apart from those of the choice.

    `above` (n, M, 2H) are the gradients of the next layer's nodes. Those of the parents'
    pre-activations are written to `grad_pre_activations`.
    """
    sentence = torch.arange(len(above), device=above.device)
    chosen = layer.chosen.unsqueeze(1)  # (n, 1)
    grad_parent = above[sentence, layer.chosen]  # (n, 2H)
    grad_hidden, grad_cell = grad_parent.chunk(2, 1)
    grad_pre_activations[layer.parents], grad_left, grad_right = derivatives.select(
        layer.parents
    ).pull_back(grad_hidden, grad_cell, to_children)
    # A node to the left of the merged pair keeps its index, one to the right moves by one.
    below = torch.where(
        (torch.arange(above.size(1) + 1, device=chosen.device) <= chosen).unsqueeze(2),
        F.pad(above, (0, 0, 0, 1)),
        F.pad(above, (0, 0, 1, 0)),
    )  # (n, M + 1, 2H)
    below[sentence, layer.chosen] = grad_left
    below[sentence, layer.chosen + 1] = grad_right
    return below


class _ChoiceGradients:
    """The gradients that sampled choices have through the scores of all candidates."""

    def __init__(
        self,
        nodes: Tensor,
        derivatives: "_Derivatives",
        query: Tensor,
        to_children: _ToChildren,
        temperature: float,
    ) -> None:
        self._nodes, self._states, self._temperature = nodes, derivatives.state, temperature
        num_candidates = len(derivatives.state)
        self.grad_scores = query.new_zeros(num_candidates)  # (K)
        # The derivatives of the scores by the pre-activations (K, 5H) and the children (K, 4H).
        self._by_pre_activations, *by_side = derivatives.pull_back(
            query.expand(num_candidates, -1), None, to_children
        )
        self._by_children = torch.cat(by_side, 1)

    def add_to(self, below: Tensor, layer: "_Layer", above: Tensor, y: Tensor) -> None:
        """Add the part through the choice `y` (n, M) to the gradients of the layer's nodes."""
        r = _look_up(self._nodes, layer.nodes)  # (n, M + 1, 2H)
        candidates = _look_up(self._states, layer.candidates)  # (n, M, 2H)
        kept, moved = (r[:, :-1] * above).sum(2), (r[:, 1:] * above).sum(2)  # (n, M)
        to_right = (moved - kept).flip(1).cumsum(1).flip(1) - moved
        grad_y = (candidates * above).sum(2) + to_right
        grad_logits = y * (grad_y - (y * grad_y).sum(1, keepdim=True)) / self._temperature
        self.grad_scores.index_add_(0, layer.candidates.view(-1), grad_logits.view(-1))
        scaled = _look_up(self._by_children, layer.candidates)  # (n, M, 4H)
        scaled *= grad_logits.unsqueeze(2)
        left, right = scaled.chunk(2, 2)
        below[:, :-1] += left
        below[:, 1:] += right

    def grad_pre_activations(self) -> Tensor:
        """Return the gradients of the pre-activations, (K, 5H), after all layers were added."""
        return self.grad_scores.unsqueeze(1) * self._by_pre_activations


def _look_up(table: Tensor, rows: Tensor) -> Tensor:
    """Return `table[rows]` of a matrix, for which `index_select` is several times as fast."""
    return table.index_select(0, rows.reshape(-1)).view(*rows.shape, -1)


class _Layer(NamedTuple):
    """The nodes and candidates of a step, as rows of their tables."""

    chosen: Tensor  # (n), indices
    nodes: Tensor  # (n, M + 1), rows of the nodes' table
    parents: Tensor  # (n), rows of the candidates' table
    candidates: Tensor  # (n, M), rows of the candidates' table; no columns if parents only


def _replay(
    merges: Tensor, sentences: Sentences, parents_only: bool
) -> tuple[list[_Layer], Tensor, Tensor]:
    """List the layers, and the left and right child of every candidate (rows of the nodes' table).

    A candidate of several layers is listed once. Padding has no candidates.
    """
    device = merges.device
    lengths, sizes = sentences
    T = len(sizes)
    lefts: list[Tensor] = []
    rights: list[Tensor] = []
    listed = 0

    def list_candidates(left: Tensor, right: Tensor) -> Tensor:
        nonlocal listed
        lefts.append(left.reshape(-1))
        rights.append(right.reshape(-1))
        listed += left.numel()
        return torch.arange(listed - left.numel(), listed, device=device).view(left.shape)

    nodes = sentences.leaf_rows()  # (B, T)
    candidates = nodes.new_zeros(sizes[0], 0 if parents_only else T - 1)
    for j in range(candidates.size(1)):
        n = sizes[j + 1]
        candidates[:n, j] = list_candidates(nodes[:n, j], nodes[:n, j + 1])
    known = sum(sizes)  # rows of the nodes' table
    layers = []
    for step in range(T - 1):
        n = sizes[step + 1]
        nodes, candidates = nodes[:n], candidates[:n]
        chosen = merges[:n, step : step + 1]  # (n, 1)
        if parents_only:
            parents = list_candidates(nodes.gather(1, chosen), nodes.gather(1, chosen + 1))
        else:
            parents = candidates.gather(1, chosen)
        layers.append(_Layer(chosen.squeeze(1), nodes, parents.squeeze(1), candidates))
        if step + 2 == T:
            break
        rows = torch.arange(known, known + n, device=device).unsqueeze(1)  # of the parents
        known += n
        n = sizes[step + 2]
        chosen = chosen[:n]
        index = torch.arange(T - 1 - step, device=device)
        nodes = torch.where(index < chosen, nodes[:n, :-1], nodes[:n, 1:])
        nodes = nodes.scatter(1, chosen, rows[:n])
        if not parents_only:
            new = new_pairs(chosen, lengths[:n, None] - step - 2)
            candidates = torch.where(
                index[:-1] < chosen, candidates[:n, :-1], candidates[:n, 1:]
            ).scatter(1, new, list_candidates(nodes.gather(1, new), nodes.gather(1, new + 1)))
    return layers, torch.cat(lefts), torch.cat(rights)


class _Derivatives(NamedTuple):
    """The derivatives of each candidate's state by its pre-activations and its children's cells."""

    state: Tensor  # (K, 2H), [h; c] itself
    cell_by_hidden: Tensor  # (K, H), the factor from the gradient of h to that of c
    gates: Tensor  # (K, 5, H), by i, f_l, f_r, o and g: of h for o, of c for the others
    left: Tensor  # (K, H), f_l
    right: Tensor  # (K, H), f_r

    @classmethod
    def of(cls, pre_activations: Tensor, left_cell: Tensor, right_cell: Tensor) -> "_Derivatives":
        blocks = pre_activations.view(len(left_cell), 5, -1)  # (K, 5, H)
        i, f_left, f_right, o = blocks[:, :4].sigmoid().unbind(1)
        g = blocks[:, 4].tanh()
        cell = f_left * left_cell + f_right * right_cell + i * g
        tanh_cell = cell.tanh()
        gates = torch.stack(
            [
                g * i * (1 - i),
                left_cell * f_left * (1 - f_left),
                right_cell * f_right * (1 - f_right),
                tanh_cell * o * (1 - o),
                i * (1 - g * g),
            ],
            1,
        )
        state = torch.cat([o * tanh_cell, cell], 1)
        return cls(state, o * (1 - tanh_cell * tanh_cell), gates, f_left, f_right)

    def select(self, rows: Tensor) -> "_Derivatives":
        return _Derivatives(*(part.index_select(0, rows) for part in self))

    def pull_back(
        self, hidden: Tensor, cell: Optional[Tensor], to_children: _ToChildren
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Turn gradients of h and c into those of pre-activations and of each child's [h; c]."""
        cell = hidden * self.cell_by_hidden + (0 if cell is None else cell)  # (K, H)
        pre_activations = self.gates * cell.unsqueeze(1)
        pre_activations[:, 3] = self.gates[:, 3] * hidden
        pre_activations = pre_activations.flatten(1)  # (K, 5H)
        left, right = to_children(pre_activations).chunk(2, 1)
        return (
            pre_activations,
            torch.cat([left, cell * self.left], 1),
            torch.cat([right, cell * self.right], 1),
        )
