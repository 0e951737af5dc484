r"""Gumbel Tree-LSTM: a sentence encoder that learns which neighbors to merge, without parses.

Choi 2020, "Sentence pair modeling" (thesis), chapter 3; Choi, Yoo and Lee 2018, "Learning to
Compose Task-Specific Tree Structures" (arXiv:1707.02786). A parent is composed from its children
l and r by

    [i; f_l; f_r; o; g] = [sigmoid x 4; tanh] (W_comp [h_l; h_r] + b_comp)      (3.1)
    c_p = f_l * c_l + f_r * c_r + i * g                                         (3.2)
    h_p = o * tanh(c_p)                                                         (3.3)

The leaves are [h; c] = W_leaf x + b_leaf (3.10) or the states of an LSTM (3.13). At each layer a
parent candidate is computed for every pair of neighbors and one of them, i, is chosen: while
training, sampled from

    v_i = softmax over the candidates of q . h_i                                (3.12)

by straight-through Gumbel-softmax (3.21-3.24); otherwise the one with the highest score. The next
layer holds the parent in place of its children, which a product with copy masks expresses
(3.14-3.20): of the choice y, one-hot in value, with C its cumulative sum,

    r'_j = (1 - C_j) r_j + C_{j-1} r_{j+1} + y_j candidate_j

so that the gradient of y also flows through what is copied.
"""

from typing import Literal, NamedTuple, Optional, Union

import torch
from torch.nn import functional as F

from allennlp_sentmatch.nn import gumbel_softmax
from allennlp_sentmatch.nn.gumbel_softmax import straight_through_gumbel_softmax
from allennlp_sentmatch.nn.lstm_states import lstm_states
from allennlp_sentmatch.nn.ops.backends import resolve
from allennlp_sentmatch.nn.ops.common.autocast import without_autocast
from allennlp_sentmatch.nn.ops.tree.composition import Choices, compose_cached
from allennlp_sentmatch.nn.tree_lstm_cell import tree_lstm_cell
from allennlp_sentmatch.nn.tree_merges import check_merges, choose_greedily


class TreeComposition(NamedTuple):
    """The root of each sentence and the tree it stands on; shapes as in `compose`."""

    hidden: torch.Tensor
    cell: torch.Tensor
    merges: torch.Tensor


class GumbelTreeLSTM(torch.nn.Module):
    """The Gumbel Tree-LSTM sentence encoder (equations in the module's docstring).

    Its parameters are those of `leaf`, a one-layer `torch.nn.LSTM` or a
    `torch.nn.Linear(input_size, 2H)` whose output is [h; c]; of `composition`, a
    `torch.nn.Linear(2H, 5H)` whose rows have the blocks i, f_l, f_r, o, g; and `query` (H). H, the
    size of a node, is `hidden_size`, or twice that where the leaf is a "bilstm".

    Under autocast, too, it computes in the precision of its parameters.

    # Parameters

    input_size : `int`
        The size of a token's vector.
    hidden_size : `int`
        The size of a node's hidden state, or of each half of it with the leaf "bilstm".
    leaf : `str`, optional (default = `"lstm"`)
        What makes a leaf of a token: "lstm", "bilstm" or "affine".
    temperature : `float`, optional (default = `1.0`)
        Of the Gumbel-softmax's relaxation.

    # Raises

    `ValueError`
        If a size or the temperature is not positive, or there is no such leaf.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        leaf: Literal["lstm", "bilstm", "affine"] = "lstm",
        temperature: float = 1.0,
    ) -> None:
        super().__init__()
        for name, size in [("input_size", input_size), ("hidden_size", hidden_size)]:
            if size < 1:
                raise ValueError(f"{name} must be at least 1, got {size}")
        if leaf not in ("lstm", "bilstm", "affine"):
            raise ValueError(f'leaf must be "lstm", "bilstm" or "affine", got {leaf!r}')
        if not temperature > 0:
            raise ValueError(f"temperature must be positive, got {temperature}")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.temperature = temperature
        self.leaf: Union[torch.nn.LSTM, torch.nn.Linear]
        if leaf == "affine":
            self.leaf = torch.nn.Linear(input_size, 2 * hidden_size)
        else:
            self.leaf = torch.nn.LSTM(
                input_size, hidden_size, batch_first=True, bidirectional=leaf == "bilstm"
            )
        node_size = self.output_size
        self.composition = torch.nn.Linear(2 * node_size, 5 * node_size)
        self.query = torch.nn.Parameter(torch.empty(node_size))
        torch.nn.init.normal_(self.query, std=0.01)  # as the authors

    @property
    def output_size(self) -> int:
        """The size of a node, and so of the encoding."""
        bidirectional = isinstance(self.leaf, torch.nn.LSTM) and self.leaf.bidirectional
        return self.hidden_size * (2 if bidirectional else 1)

    def forward(self, inputs: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The hidden state of each sentence's root.

        # Parameters

        inputs : `torch.Tensor`
            Shape (batch_size, sequence_length, input_size).
        mask : `torch.Tensor`
            Shape (batch_size, sequence_length), bool, right-padded.

        # Returns

        `torch.Tensor`
            Shape (batch_size, output_size); zero for a sentence without tokens.
        """
        return self.compose(inputs, mask).hidden

    def compose(
        self, inputs: torch.Tensor, mask: torch.Tensor, merges: Optional[torch.Tensor] = None
    ) -> TreeComposition:
        """Compose each sentence into a single node.

        # Parameters

        inputs : `torch.Tensor`
            Shape (batch_size, sequence_length, input_size).
        mask : `torch.Tensor`
            Shape (batch_size, sequence_length), bool, right-padded.
        merges : `torch.Tensor`, optional (default = `None`)
            Shape (batch_size, sequence_length - 1), long, as returned: trees to compose along, a
            parser's for instance. By default the model chooses its own.

        # Returns

        `TreeComposition`
            `hidden` and `cell` of the roots, each (batch_size, output_size), and `merges`
            (batch_size, sequence_length - 1), long: at each step the position, among the nodes
            then left and counted from 0, of the left node of the merged pair; -1 past a sentence
            of N tokens' own N - 1 steps.

        # Raises

        `ValueError`
            If `merges` has another shape or holds a position where there is no pair to merge.
        """
        if merges is not None:
            check_merges(merges, mask)
        # A tree depends on small differences of scores, for which half precision is too coarse.
        with without_autocast(inputs.device):
            hidden, cell = self._leaves(inputs.to(self.query.dtype), mask)
            # Without a pair to merge there is nothing to save.
            backend = resolve("GumbelTreeLSTM", ("naive", "eager"), hidden, self.query)
            if backend.name == "eager" and mask[:, 1:2].any():
                return self._compose_cached(hidden, cell, mask, merges)
            return self._compose_plainly(hidden, cell, mask, merges)

    def _compose_plainly(
        self,
        hidden: torch.Tensor,
        cell: torch.Tensor,
        mask: torch.Tensor,
        merges: Optional[torch.Tensor],
    ) -> TreeComposition:
        """The equations as printed: every layer computes all of its candidates."""
        lengths = mask.sum(1)
        chosen: list[torch.Tensor] = []
        for step in range(hidden.size(1) - 1):
            candidate_hidden, candidate_cell = tree_lstm_cell(
                self.composition(torch.cat([hidden[:, :-1], hidden[:, 1:]], -1)),
                cell[:, :-1],
                cell[:, 1:],
            )  # (B, M, H), one for each pair of neighbors
            position = torch.arange(candidate_hidden.size(1), device=lengths.device)
            pairs_left = (lengths - step - 1).unsqueeze(1)  # (B, 1)
            allowed = position < pairs_left  # (B, M); none once a sentence is done
            if merges is not None:
                given = position == merges[:, step].unsqueeze(1)
                choice = (given & allowed).to(cell.dtype)  # (B, M)
            else:
                choice = self._choose((candidate_hidden * self.query).sum(-1), allowed)
            chosen.append(choice.argmax(1).masked_fill(~allowed[:, 0], -1))
            hidden = _copy_or_merge(choice, hidden, candidate_hidden)  # (B, M, H)
            cell = _copy_or_merge(choice, cell, candidate_cell)
        no_merges = torch.empty(len(lengths), 0, dtype=torch.long, device=lengths.device)
        return TreeComposition(
            # One node is left, or none where the batch has no step at all: hence the sums.
            hidden.sum(1),
            cell.sum(1),
            torch.stack(chosen, 1) if chosen else no_merges,
        )

    def _compose_cached(
        self,
        hidden: torch.Tensor,
        cell: torch.Tensor,
        mask: torch.Tensor,
        merges: Optional[torch.Tensor],
    ) -> TreeComposition:
        """The same, each candidate computed once."""
        B, T = hidden.shape[:2]
        noise = None
        if self.training and merges is None:
            noise = [gumbel_softmax.gumbel_noise(cell.new_empty(B, M)) for M in range(T - 1, 0, -1)]
        return TreeComposition(
            *compose_cached(
                hidden,
                cell,
                mask,
                self.composition.weight,
                self.composition.bias,
                self.query,
                Choices(merges, noise, self.temperature),
            )
        )

    def _leaves(
        self, inputs: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """H and c of each token, (B, T, H) each and zero at padding."""
        if isinstance(self.leaf, torch.nn.LSTM):
            return lstm_states(self.leaf, inputs, mask)
        padding = ~mask.unsqueeze(-1)  # (B, T, 1)
        # What is in the padding must not matter, not even in a product with zero.
        leaves = self.leaf(inputs.masked_fill(padding, 0.0)).masked_fill(padding, 0.0)
        hidden, cell = leaves.chunk(2, -1)
        return hidden, cell

    def _choose(self, scores: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
        """A one-hot choice per sentence (B, M), zero for one that is done."""
        if self.training:
            return straight_through_gumbel_softmax(scores, allowed, self.temperature)
        best = choose_greedily(scores, allowed, self.query).unsqueeze(1)  # (B, 1)
        return torch.zeros_like(scores).scatter(1, best, 1.0) * allowed


def _copy_or_merge(
    choice: torch.Tensor, nodes: torch.Tensor, candidates: torch.Tensor
) -> torch.Tensor:
    """The next layer (3.14), (B, M, H), of a choice (B, M), nodes (B, M + 1, H) and candidates."""
    merged_so_far = choice.cumsum(1)  # (B, M)
    left = 1 - merged_so_far
    right = F.pad(merged_so_far[:, :-1], (1, 0))
    return (
        left.unsqueeze(-1) * nodes[:, :-1]
        + right.unsqueeze(-1) * nodes[:, 1:]
        + choice.unsqueeze(-1) * candidates
    )
