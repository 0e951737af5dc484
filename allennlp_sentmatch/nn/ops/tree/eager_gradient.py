r"""The gradient of the composition by `eager`, linear in the number of nodes.

The layers are undone from the root down. Each parent's gradient goes to its children by a product
of the cell's derivatives; all other nodes keep theirs. If the choices were sampled, they have a
gradient, too, through the scores of all candidates of their layer (`choice_gradient`). A candidate
of several layers is taken once: in the last layer that it is in.
"""

from typing import NamedTuple, Optional

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.tree.choice_gradient import ChoiceGradient, Window
from allennlp_sentmatch.nn.ops.tree.derivatives import Derivatives
from allennlp_sentmatch.nn.ops.tree.tables import EagerTreeTables, Sentences, TreeGradients
from allennlp_sentmatch.nn.ops.tree.weights import TreeWeights


class _Layer(NamedTuple):
    """The merges of a step, of n sentences."""

    chosen: Tensor  # (n), indices
    window: Tensor  # (n, 6), rows of the nodes from two before to two after the merged pair, or 0
    first_parent: int  # the first of the parents' rows

    @property
    def end(self) -> int:
        """The row after those of the parents."""
        return self.first_parent + len(self.chosen)


def backward(
    backend: Backend,
    root: tuple[Tensor, Tensor],
    merges: Tensor,
    sentences: Sentences,
    weights: TreeWeights,
    saved: tuple[Tensor, ...],
    temperature: float,
    needs: TreeGradients,
) -> TreeGradients:
    """Run the backward pass of `eager.forward`.

    # Parameters

    backend : `Backend`
    root : `tuple[Tensor, Tensor]`
        Shape (B, H) each: the gradients of the roots' h and c.
    merges : `Tensor`
        Shape (B, T - 1).
    sentences : `Sentences`
    weights : `TreeWeights`
    saved : `tuple[Tensor, ...]`
        The tables that the forward pass saved.
    temperature : `float`
        The temperature of the relaxation.
    needs : `TreeGradients`
        Whether each of the gradients is needed. Without `weight`, that one is not computed.
    """
    nodes, relaxed = EagerTreeTables(*saved[:2]), list(saved[2:])
    layers = _replay(merges, sentences)
    gradient: _Gradient
    if relaxed:
        gradient = _SampledGradient(backend, sentences, nodes, weights, relaxed, temperature)
    else:
        gradient = _Gradient(backend, sentences, nodes, weights)
    grads = gradient.nodes
    continuing = [*sentences.sizes[1:], 0]  # the number of sentences with another merge
    grad_root = torch.cat(root, 1)  # (B, 2H)
    grads[continuing[0] : len(grad_root)] = grad_root[continuing[0] :]
    for step in range(len(layers) - 1, -1, -1):
        layer, n = layers[step], continuing[step + 1]
        grads[layer.first_parent : layer.end][n:] = grad_root[n : len(layer.chosen)]
        gradient.undo(step, layer)
    gradient.finish()
    grad_hidden, grad_cell = grads[: sum(sentences.sizes)].chunk(2, 1)
    pre_activations = gradient.pre_activations[1:]
    grad_weight: Optional[Tensor] = None
    if needs.weight:
        # As its first argument is copied in another order, that should be the smaller one.
        grad_weight = backend.products.product_over_rows(gradient.children(), pre_activations).t()
    return TreeGradients(
        hidden=grad_hidden,
        cell=grad_cell,
        weight=grad_weight,
        bias=pre_activations.sum(0),
        query=gradient.query(),
    )


def _replay(merges: Tensor, sentences: Sentences) -> list[_Layer]:
    """List the layers. Parents have the rows after those of the leaves, step by step."""
    T = len(sentences.sizes)
    rows = sentences.leaf_rows()  # (B, T)
    first_parent = sum(sentences.sizes)
    around = torch.arange(6, device=merges.device)
    layers = []
    for step, n in enumerate(sentences.sizes[1:]):
        rows = rows[:n]  # (n, M + 1)
        chosen = merges[:n, step : step + 1]  # (n, 1)
        window = F.pad(rows, (2, 2)).gather(1, chosen + around)
        layers.append(_Layer(chosen.squeeze(1), window, first_parent))
        parents = torch.arange(first_parent, layers[-1].end, device=merges.device)
        first_parent += n
        index = torch.arange(T - 1 - step, device=merges.device)
        rows = torch.where(index < chosen, rows[:, :-1], rows[:, 1:])
        rows = rows.scatter(1, chosen, parents.unsqueeze(1))
    return layers


class _Gradient:
    """The gradient of given or greedy merges, which have none themselves.

    It has tables of the candidates: `rows_per_merge` for each merge, in the order in which merges
    are undone, after a first row of zeros.
    """

    rows_per_merge = 1

    def __init__(
        self, backend: Backend, sentences: Sentences, nodes: EagerTreeTables, weights: TreeWeights
    ) -> None:
        H = weights.query.size(0)
        self._backend, self._sentences = backend, sentences
        self._nodes, self._weights = nodes, weights
        self._transposed = backend.products.prepacked(weights.weight.t().contiguous())  # (2H, 5H)
        self._children: list[tuple[Tensor, Tensor]] = []  # rows of the nodes
        self._next = 1  # the row of the next candidate
        self.nodes = torch.zeros_like(nodes.states)  # the gradients of [h; c]
        self.pre_activations = self._new_table(5 * H)  # (K, 5H), the gradients

    def _new_table(self, *shape: int) -> Tensor:
        """Return a table of the candidates."""
        merges = sum(self._sentences.sizes[1:])
        table = self.nodes.new_empty(1 + self.rows_per_merge * merges, *shape)
        table[0] = 0
        return table

    def _add_candidates(self, left: Tensor, right: Tensor) -> tuple[slice, Derivatives]:
        """Add the pairs of nodes `left` and `right`, (R): their rows and their derivatives."""
        rows = slice(self._next, self._next + len(left))
        self._next = rows.stop
        self._children.append((left, right))
        H = self._weights.query.size(0)
        states, projected = self._nodes
        derivatives = Derivatives.of(
            self._backend,
            projected[:, : 5 * H].index_select(0, left)
            + projected[:, 5 * H :].index_select(0, right),
            states[:, H:].index_select(0, left),
            states[:, H:].index_select(0, right),
        )
        return rows, derivatives

    def _to_children(self, pre_activations: Tensor) -> Tensor:
        """Return the gradients of both children's h, (R, 2H), from those of (R, 5H)."""
        return self._backend.products.linear(pre_activations, self._transposed)

    def undo(self, step: int, layer: _Layer) -> None:
        """Pass the gradients of a step's parents on to their children."""
        rows, derivatives = self._add_candidates(layer.window[:, 2], layer.window[:, 3])
        grad_hidden, grad_cell = self.nodes[layer.first_parent : layer.end].chunk(2, 1)
        pre_activations, grad_cell = derivatives.gradients(grad_hidden, grad_cell)
        self.pre_activations[rows] = pre_activations
        children = derivatives.children_gradients(self._to_children(pre_activations), grad_cell)
        self._set(layer, children)

    def _set(self, layer: _Layer, children: Tensor) -> None:
        """Set the gradients (n, 2, 2H) of the merged nodes."""
        self.nodes.index_copy_(0, layer.window[:, 2:4].reshape(-1), children.flatten(0, 1))

    def finish(self) -> None:
        """Complete the gradients of leaves and pre-activations after the last layer."""

    def children(self) -> Tensor:
        """Return the children's h side by side, (K, 2H)."""
        hidden = self._nodes.states[:, : self._weights.query.size(0)]
        return torch.cat(
            [hidden.index_select(0, torch.cat(side)) for side in zip(*self._children)], 1
        )

    def query(self) -> Optional[Tensor]:
        """Return the gradient of q, which only sampled choices have."""
        return None


class _SampledGradient(_Gradient):
    """The gradient of sampled merges.

    In each layer three candidates are new: the one that was chosen, and its neighbors.
    """

    rows_per_merge = 3

    def __init__(
        self,
        backend: Backend,
        sentences: Sentences,
        nodes: EagerTreeTables,
        weights: TreeWeights,
        relaxed: list[Tensor],
        temperature: float,
    ) -> None:
        super().__init__(backend, sentences, nodes, weights)
        H = weights.query.size(0)
        self._relaxed, self._temperature = relaxed, temperature
        self._choices = ChoiceGradient(nodes.states)
        # The derivatives of the scores by the pre-activations are in `pre_activations` until
        # `finish`, and those by the children's states here.
        self._by_children = self._new_table(2, 2 * H)
        self._states = self._new_table(2 * H)
        self._scores = torch.zeros_like(self._states[:, 0])  # the gradients
        self._of_parents: list[Tensor] = []  # the gradients of their pre-activations, (n, 5H)

    def undo(self, step: int, layer: _Layer) -> None:
        n, device = len(layer.chosen), layer.chosen.device
        self._pass_on_finished(layer)
        left, right = layer.window[:, 1:4], layer.window[:, 2:5]  # (n, 3)
        rows, derivatives = self._add_candidates(left.reshape(-1), right.reshape(-1))
        grad_parents = self.nodes[layer.first_parent : layer.end]
        parents = derivatives.every(3, first=1)
        of_parents, grad_cell = parents.gradients(*grad_parents.chunk(2, 1))
        of_scores, score_by_cell = derivatives.gradients(self._weights.query)
        of_children = self._to_children(torch.cat([of_parents, of_scores]))  # (4n, 2H)
        children = parents.children_gradients(of_children[:n], grad_cell)  # (n, 2, 2H)
        self._set(layer, children)
        self._of_parents.append(of_parents)
        self.pre_activations[rows] = of_scores
        self._by_children[rows] = derivatives.children_gradients(of_children[n:], score_by_cell)
        self._states[rows] = derivatives.state
        new = torch.arange(rows.start, rows.stop, device=device).view(n, 3)
        candidates = self._choices.neighbors(layer.chosen)
        candidates = torch.cat([candidates[:, :1], new, candidates[:, 1:]], 1)  # (n, 5)
        outer = _look_up(self.nodes, layer.window[:, [1, 4]])  # (n, 2, 2H)
        products = Window(
            nodes=_look_up(self._nodes.states, layer.window),
            states=_look_up(self._states, candidates),
            by_score=_look_up(self._by_children, candidates),
            grads=torch.cat([outer[:, :1], children, outer[:, 1:], grad_parents.unsqueeze(1)], 1),
        ).products()
        self._choices.insert(layer.chosen, products, new)
        y = self._relaxed[step]
        pairs_left = self._sentences.lengths[:n, None] - 1 - step  # (n, 1)
        allowed = torch.arange(y.size(1), device=device) < pairs_left  # (n, M)
        self._choices.add_layer(layer.chosen, products, y, allowed, self._temperature)

    def _pass_on_finished(self, layer: _Layer) -> None:
        """Pass on the gradients of the scores of the parents' pairs, which go down no further."""
        scores, candidates = self._choices.merged(layer.chosen)  # (n, 2)
        by_children = self._finish(scores, candidates)  # (n, 2, 2, 2H)
        self.nodes.index_add_(0, layer.window[:, 1], by_children[:, 0, 0])
        self.nodes.index_add_(0, layer.window[:, 4], by_children[:, 1, 1])
        self.nodes[layer.first_parent : layer.end] += by_children[:, 0, 1] + by_children[:, 1, 0]

    def _finish(self, scores: Tensor, candidates: Tensor) -> Tensor:
        """Keep the gradients of the candidates' scores; return those through them of children."""
        self._scores.index_copy_(0, candidates.reshape(-1), scores.reshape(-1))
        return _look_up(self._by_children, candidates) * scores[..., None, None]

    def finish(self) -> None:
        scores, candidates = self._choices.rest()  # (n, T - 1)
        rows = self._sentences.leaf_rows()[: len(scores)]  # (n, T)
        left, right = self._finish(scores, candidates).flatten(0, 1).unbind(1)
        self.nodes.index_add_(0, rows[:, :-1].reshape(-1), left)
        self.nodes.index_add_(0, rows[:, 1:].reshape(-1), right)
        self.pre_activations *= self._scores.unsqueeze(1)
        by_merge = self.pre_activations[1:].view(-1, 3, self.pre_activations.size(1))
        by_merge[:, 1] += torch.cat(self._of_parents)

    def query(self) -> Optional[Tensor]:
        return self._scores @ self._states[:, : self._weights.query.size(0)]


def _look_up(table: Tensor, rows: Tensor) -> Tensor:
    """Return `table[rows]`, for which `index_select` is several times as fast."""
    return table.index_select(0, rows.reshape(-1)).view(*rows.shape, *table.shape[1:])
