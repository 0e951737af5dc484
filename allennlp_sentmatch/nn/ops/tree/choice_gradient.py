r"""The gradient through sampled choices, with steps that touch only what a merge changes.

With the gradient G of the next layer's nodes r', the choice y of a layer has the gradient

    dy_j = candidate_j . G_j - sum_{m >= j} r_m . G_m + sum_{m > j} r_{m+1} . G_m
         = (candidate_j - r_j) . G_j + sum_{m > j} (r_{m+1} - r_m) . G_m                      (1)

and the gradient of candidate k's score, d_k, follows from the relaxation. A score q . h has one
vector D_k for each child of the candidate, the product of q with the candidate's Jacobian, and adds
d_k D_k to the child's gradient in every layer that the candidate is in.

Summed layer by layer, that is quadratic in vectors. Two regroupings make it linear:

- A node needs the sum over layers only: s_k D_k with s_k = sum of d_k, once k's last layer is done.
- The products of (1) are, for j left of the merged pair, those with the gradient of candidate j's
  left child, and right of it, with that of its right child. From layer to layer these gradients
  change by multiples of the vectors D of the candidate itself and of the neighboring candidate. So
  the products change by the same multiples of products that are constant as long as both
  candidates exist. All of these are numbers.

A merge creates and removes a constant number of candidates and neighborhoods, for which vectors
are multiplied. All other candidates cost a few additions of numbers. This is exactly the gradient
of the naive form, regrouped.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F


class Window(NamedTuple):
    """The vectors around the merged pair l, r of n sentences, and those of their parent p.

    The nodes are those from two before l to two after r, and the five candidates are their pairs.
    The candidates 1, 2 and 3, of which 2 is p, are not in the next layer.
    """

    nodes: Tensor  # (n, 6, 2H), [h; c]
    states: Tensor  # (n, 5, 2H), [h; c] of the candidates
    by_score: Tensor  # (n, 5, 2, 2H), D for the left and right child
    grads: Tensor  # (n, 5, 2H), of nodes 1 to 4 and of p

    def products(self) -> Tensor:
        """Multiply each candidate's vectors of (1) with D and G, (n, 5, 2, 3, 5).

        For candidates j: r_{j+1} - r_j and candidate_j - r_j, times D of the candidates for the
        left child, D for the right child, and `grads`.
        """
        left, right = self.nodes[:, :5], self.nodes[:, 1:]
        ours = torch.stack([right - left, self.states - left], 2)  # (n, 5, 2, 2H)
        theirs = torch.cat([*self.by_score.unbind(2), self.grads], 1)  # (n, 15, 2H)
        products = torch.bmm(ours.flatten(1, 2), theirs.transpose(1, 2))
        return products.view(-1, 5, 2, 3, 5)


#: The columns of a table before its first candidate and after its last one, so that a window at
#: the end of a sentence lies within the table.
MARGIN = 2

# The rows of the table of numbers. The pairs are those of `Window.products`.
_LEFT = slice(0, 2)  # the products with the gradient of the candidate's left child
_RIGHT = slice(2, 4)  # the products with the gradient of its right child
# The following are constant: the changes of these products for a d of 1,
_OWN_LEFT = slice(4, 6)  # of _LEFT for the candidate's own d
_OWN_RIGHT = slice(6, 8)  # of _RIGHT for the candidate's own d
_BEFORE = slice(8, 10)  # of _LEFT for d of the candidate before it
_AFTER = slice(10, 12)  # of _RIGHT for d of the candidate after it
_SCORE = 12  # s, the sum of the candidate's d


class ChoiceGradient:
    """Goes through the layers from the root down.

    # Parameters

    like : `Tensor`
        The precision and device.
    """

    def __init__(self, like: Tensor) -> None:
        self._numbers = like.new_zeros(13, 0, 2 * MARGIN)  # (13, n, columns)
        self._ids = torch.zeros(0, 2 * MARGIN, dtype=torch.long, device=like.device)

    def merged(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """Return s and the ids, (n, 2) each, of the parents' pairs with their neighbors.

        Go down a layer, to one where the n sentences have one candidate more, and where `chosen`
        (n) is merged. A pair beyond the ends of a sentence has an s of zero.
        """
        sentences = len(chosen) - len(self._ids)
        numbers = F.pad(self._numbers, (0, 1, 0, sentences))
        ids = F.pad(self._ids, (0, 1, 0, sentences))
        pairs = chosen.unsqueeze(1) + torch.arange(MARGIN - 1, MARGIN + 1, device=ids.device)
        result = numbers[_SCORE].gather(1, pairs), ids.gather(1, pairs)
        # The candidates after the merged pair move by one; `insert` replaces those around it.
        index = torch.arange(ids.size(1), device=ids.device) - MARGIN
        stays = index <= chosen.unsqueeze(1)  # (n, columns)
        self._numbers = torch.where(stays, numbers, numbers.roll(1, 2))
        self._ids = torch.where(stays, ids, ids.roll(1, 1))
        return result

    def neighbors(self, chosen: Tensor) -> Tensor:
        """Return the ids of a window's candidates 0 and 4, (n, 2)."""
        columns = 4 * torch.arange(2, device=chosen.device) - 2 + MARGIN
        return self._ids.gather(1, chosen.unsqueeze(1) + columns)

    def insert(self, chosen: Tensor, products: Tensor, ids: Tensor) -> None:
        """Insert a window's candidates 1, 2 and 3 with their `ids` (n, 3)."""
        n = len(chosen)
        window = chosen.unsqueeze(1) + torch.arange(5, device=chosen.device) - 2 + MARGIN  # (n, 5)
        self._ids.scatter_(1, window[:, 1:4], ids)
        expanded = window.expand(13, n, 5)
        numbers = self._numbers.gather(2, expanded)  # (13, n, 5)
        left, right, grads = products.permute(3, 2, 0, 1, 4).unbind(0)  # (2, n, 5, 5) each

        def diagonal(x: Tensor, offset: int) -> Tensor:
            return x.diagonal(offset, 2, 3)

        numbers[_BEFORE, :, 1:] = diagonal(right, -1)
        numbers[_AFTER, :, :4] = diagonal(left, 1)
        numbers[_OWN_LEFT, :, 1:4] = diagonal(left, 0)[..., 1:4]
        numbers[_OWN_RIGHT, :, 1:4] = diagonal(right, 0)[..., 1:4]
        numbers[_LEFT, :, 1:4] = diagonal(grads[:, :, 1:4, :3], 0)
        numbers[_RIGHT, :, 1:4] = diagonal(grads[:, :, 1:4, 1:4], 0)
        # The outer nodes have not been passed the unfinished parts of the candidates beyond.
        score = numbers[_SCORE]
        numbers[_LEFT, :, 1] += score[:, 0] * numbers[_BEFORE, :, 1]
        numbers[_RIGHT, :, 3] += score[:, 4] * numbers[_AFTER, :, 3]
        score[:, 1:4] = 0
        self._numbers.scatter_(2, expanded, numbers)

    def add_layer(
        self, chosen: Tensor, products: Tensor, y: Tensor, allowed: Tensor, temperature: float
    ) -> None:
        """Add the layer's d.

        # Parameters

        chosen : `Tensor`
            Shape (n).
        products : `Tensor`
            Those of the layer's `Window`, which were inserted.
        y : `Tensor`
            Shape (n, M), the relaxed choice; zero where it is not `allowed`.
        allowed : `Tensor`
            Shape (n, M), bool.
        temperature : `float`
            The temperature of the relaxation.
        """
        numbers, M = self._numbers, y.size(1)
        candidates = numbers[:, :, MARGIN : MARGIN + M]
        index, chosen = torch.arange(M, device=y.device), chosen.unsqueeze(1)
        values = torch.where(index < chosen, candidates[_LEFT], candidates[_RIGHT])  # (2, n, M)
        of_parent = products[:, 2, :, 2, 4].t().unsqueeze(2)  # (2, n, 1)
        difference, own = torch.where(index == chosen, of_parent, values)
        difference = difference.masked_fill(~allowed, 0)
        grad_y = own + difference.flip(1).cumsum(1).flip(1) - difference
        d = y * (grad_y - (y * grad_y).sum(1, keepdim=True)) / temperature  # (n, M)
        here = F.pad(d, (MARGIN, MARGIN))  # (n, columns)
        before, after = F.pad(d, (MARGIN + 1, MARGIN - 1)), F.pad(d, (MARGIN - 1, MARGIN + 1))
        numbers[_LEFT] += here * numbers[_OWN_LEFT] + before * numbers[_BEFORE]
        numbers[_RIGHT] += here * numbers[_OWN_RIGHT] + after * numbers[_AFTER]
        numbers[_SCORE] += here

    def rest(self) -> tuple[Tensor, Tensor]:
        """Return s and the ids of the leaves' candidates, (n, T - 1) each, after the last layer."""
        columns = slice(MARGIN, -MARGIN)
        return self._numbers[_SCORE, :, columns], self._ids[:, columns]
