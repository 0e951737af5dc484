r"""The gradient of `gumbel_tree_lstm`'s composition, with a linear number of products.

In training, the gradient of the choice y also flows through the copy masks of

    r'_j = (1 - C_j) r_j + C_{j-1} r_{j+1} + y_j candidate_j,   C = cumsum(y)       (3.14-3.20)

so that each layer needs the gradient G of the next layer's nodes r':

    dy_i = candidate_i . G_i - sum_{j >= i} r_j . G_j + sum_{j > i} r_{j+1} . G_j

and to the nodes' gradient every candidate of every layer adds a part, also one that was kept from
the layer below. But for the chosen one's, all those parts come from the scores q . h, which makes
them multiples, by the score's gradient, of one vector per candidate: the product of q with the
candidate's Jacobian. It is computed once per candidate, and in each layer only scaled and added.
No approximation is in this: it is the plain formulation's gradient, regrouped.
"""

from typing import NamedTuple, Optional

import torch
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.common.products import product, product_over_rows


def backward(
    root: torch.Tensor,
    nodes: torch.Tensor,
    merges: torch.Tensor,
    lengths: torch.Tensor,
    sizes: list[int],
    weight: torch.Tensor,
    bias: torch.Tensor,
    query: torch.Tensor,
    relaxed: list[torch.Tensor],
    temperature: float,
) -> tuple[Optional[torch.Tensor], ...]:
    """Gradients of the leaves' h and c, packed (N, H), and of `weight`, `bias` and `query`.

    # Parameters

    root : `torch.Tensor`
        Shape (B, 2H): the gradient of the roots' [h; c].
    nodes : `torch.Tensor`
        Shape (2N - B, 2H): [h; c] of the leaves, packed, then of each step's parents.
    merges, lengths, sizes : `torch.Tensor`, `torch.Tensor` and `List[int]`
        Shapes (B, T - 1) and (B), longest first; and T sizes, as in `Packing`.
    weight, bias, query : `torch.Tensor`
        Shapes (5H, 2H), (5H), (H).
    relaxed : `List[torch.Tensor]`
        Each step's y (n, M); empty if the choices were not sampled and so have no gradient.
    temperature : `float`
        Of the relaxation.
    """
    B, T, H = sizes[0], len(sizes), query.size(0)
    layers, left, right = _replay(merges, lengths, sizes, parents_only=not relaxed)
    children = torch.cat([nodes[:, :H].index_select(0, side) for side in (left, right)], 1)
    derivatives = _Derivatives.of(
        product(children, weight).add_(bias),  # (K, 5H)
        nodes[:, H:].index_select(0, left),
        nodes[:, H:].index_select(0, right),
    )
    transposed = weight.t().contiguous()  # (2H, 5H)
    by_pre_activations = torch.zeros_like(derivatives.gates).flatten(1)  # (K, 5H)
    if relaxed:
        by_scores = by_pre_activations.new_zeros(len(left))  # (K)
        scores_by_pre_activations, *by_side = derivatives.pull_back(
            query.expand(len(left), H), None, transposed
        )
        scores_by_children = torch.cat(by_side, 1)  # (K, 4H)
    gradient = nodes.new_zeros(B, T, 2 * H)  # G, of the layer above's nodes
    gradient[:, 0] = root
    sentence = torch.arange(B, device=nodes.device)
    for step in range(len(layers) - 1, -1, -1):
        layer = layers[step]
        n, M = layer.nodes.size(0), layer.nodes.size(1) - 1
        above, chosen = gradient[:n, :M], layer.chosen.unsqueeze(1)
        by_parent = above[sentence[:n], layer.chosen]  # (n, 2H)
        by_hidden, by_cell = by_parent.chunk(2, 1)
        by_pre_activations[layer.parents], of_left, of_right = derivatives.select(
            layer.parents
        ).pull_back(by_hidden, by_cell, transposed)
        # What is left of the merged pair stays in its place, what is right of it moves by one.
        below = torch.where(
            (torch.arange(M + 1, device=chosen.device) <= chosen).unsqueeze(2),
            F.pad(above, (0, 0, 0, 1)),
            F.pad(above, (0, 0, 1, 0)),
        )  # (n, M + 1, 2H)
        below[sentence[:n], layer.chosen] = of_left
        below[sentence[:n], layer.chosen + 1] = of_right
        if relaxed:
            r = _look_up(nodes, layer.nodes)  # (n, M + 1, 2H)
            candidates = _look_up(derivatives.state, layer.candidates)  # (n, M, 2H)
            kept, moved = (r[:, :-1] * above).sum(2), (r[:, 1:] * above).sum(2)  # (n, M)
            to_right = (moved - kept).flip(1).cumsum(1).flip(1) - moved
            y, y_gradient = relaxed[step], (candidates * above).sum(2) + to_right
            by_logit = y * (y_gradient - (y * y_gradient).sum(1, keepdim=True)) / temperature
            by_scores.index_add_(0, layer.candidates.view(-1), by_logit.view(-1))
            scaled = _look_up(scores_by_children, layer.candidates)  # (n, M, 4H)
            scaled *= by_logit.unsqueeze(2)
            below[:, :-1] += scaled[:, :, : 2 * H]
            below[:, 1:] += scaled[:, :, 2 * H :]
        gradient[:n, : M + 1] = below
    by_query = None
    if relaxed:
        by_pre_activations += by_scores.unsqueeze(1) * scores_by_pre_activations
        by_query = by_scores @ derivatives.state[:, :H]
    tokens = torch.arange(T, device=nodes.device).unsqueeze(1) < lengths  # (T, B)
    by_hidden, by_cell = gradient.transpose(0, 1)[tokens].chunk(2, 1)  # (N, H)
    by_weight = product_over_rows(by_pre_activations, children)
    return by_hidden, by_cell, by_weight, by_pre_activations.sum(0), by_query


def _look_up(table: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """`table[rows]` of a matrix, for which `index_select` is several times as fast."""
    return table.index_select(0, rows.reshape(-1)).view(*rows.shape, -1)


def leaf_rows(sizes: list[int], device: torch.device) -> torch.Tensor:
    """The packed row of each token, (B, T); 0 at padding."""
    rows = torch.zeros(sizes[0], len(sizes), dtype=torch.long, device=device)
    start = 0
    for step, size in enumerate(sizes):
        rows[:size, step] = torch.arange(start, start + size, device=device)
        start += size
    return rows


def new_pairs(chosen: torch.Tensor, pairs_left: torch.Tensor) -> torch.Tensor:
    """Where the parent at `chosen` (n, 1) pairs with its neighbors, (n, 2).

    At an end of the sentence, of `pairs_left` (n, 1) pairs, it has but one; it then comes twice.
    """
    return torch.cat([(chosen - 1).clamp_min(0), chosen.minimum(pairs_left - 1)], 1)


class _Layer(NamedTuple):
    """Rows of a table for what one step chose from."""

    chosen: torch.Tensor  # (n), positions
    nodes: torch.Tensor  # (n, M + 1), rows of the nodes' table
    parents: torch.Tensor  # (n), rows of the candidates' table
    candidates: torch.Tensor  # (n, M), likewise; without columns if only parents are listed


def _replay(
    merges: torch.Tensor, lengths: torch.Tensor, sizes: list[int], parents_only: bool
) -> tuple[list[_Layer], torch.Tensor, torch.Tensor]:
    """List the layers, and the left and right child of every candidate (rows of the nodes' table).

    Each candidate is listed once, in however many layers it stands; padding has none.
    """
    device = merges.device
    T = len(sizes)
    lefts: list[torch.Tensor] = []
    rights: list[torch.Tensor] = []
    listed = 0

    def list_candidates(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        nonlocal listed
        lefts.append(left.reshape(-1))
        rights.append(right.reshape(-1))
        listed += left.numel()
        return torch.arange(listed - left.numel(), listed, device=device).view(left.shape)

    nodes = leaf_rows(sizes, device)  # (B, T)
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
        position = torch.arange(T - 1 - step, device=device)
        nodes = torch.where(position < chosen, nodes[:n, :-1], nodes[:n, 1:])
        nodes = nodes.scatter(1, chosen, rows[:n])
        if not parents_only:
            new = new_pairs(chosen, lengths[:n, None] - step - 2)
            candidates = torch.where(
                position[:-1] < chosen, candidates[:n, :-1], candidates[:n, 1:]
            ).scatter(1, new, list_candidates(nodes.gather(1, new), nodes.gather(1, new + 1)))
    return layers, torch.cat(lefts), torch.cat(rights)


class _Derivatives(NamedTuple):
    """Of each candidate's state by its pre-activations and its children's cells."""

    state: torch.Tensor  # (K, 2H), [h; c] itself
    cell_by_hidden: torch.Tensor  # (K, H), what a gradient of h adds to that of c
    gates: torch.Tensor  # (K, 5, H), i, f_l, f_r, o and g: of h for o, of c for the others
    left: torch.Tensor  # (K, H), f_l
    right: torch.Tensor  # (K, H), f_r

    @classmethod
    def of(
        cls, pre_activations: torch.Tensor, left_cell: torch.Tensor, right_cell: torch.Tensor
    ) -> "_Derivatives":
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

    def select(self, rows: torch.Tensor) -> "_Derivatives":
        return _Derivatives(*(part.index_select(0, rows) for part in self))

    def pull_back(
        self, hidden: torch.Tensor, cell: Optional[torch.Tensor], transposed: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """From gradients of h and c: those of the pre-activations and of each child's [h; c].

        `transposed` is W_comp's transpose, (2H, 5H).
        """
        cell = hidden * self.cell_by_hidden + (0 if cell is None else cell)  # (K, H)
        pre_activations = self.gates * cell.unsqueeze(1)
        pre_activations[:, 3] = self.gates[:, 3] * hidden
        pre_activations = pre_activations.flatten(1)  # (K, 5H)
        left, right = product(pre_activations, transposed).chunk(2, 1)
        return (
            pre_activations,
            torch.cat([left, cell * self.left], 1),
            torch.cat([right, cell * self.right], 1),
        )
