r"""Gumbel Tree-LSTM: a sentence encoder that learns its trees without parses.

Choi 2020, "Sentence Pair Modeling using Deep Neural Network Sentence Encoders" (thesis), chapter 3;
Choi, Yoo and Lee 2018, "Learning to Compose Task-Specific Tree Structures" (arXiv:1707.02786). A
parent is composed from its children l and r by

    [i; f_l; f_r; o; g] = [sigmoid x 4; tanh] (W_comp [h_l; h_r] + b_comp)      (3.1)
    c_p = f_l * c_l + f_r * c_r + i * g                                         (3.2)
    h_p = o * tanh(c_p)                                                         (3.3)

The leaves are [h; c] = W_leaf x + b_leaf (3.10) or the states of an LSTM (3.13). Each layer has a
parent candidate for every pair of neighbors, and one of them, i, is chosen: in training, sampled
from

    v_i = softmax over the candidates of q . h_i                                (3.12)

by straight-through Gumbel-softmax (3.21-3.24); otherwise the one with the highest score. In the
next layer the parent replaces its children, by a product with copy masks (3.14-3.20). With the
choice y, one-hot in value, and its cumulative sum C,

    r'_j = (1 - C_j) r_j + C_{j-1} r_{j+1} + y_j candidate_j

so that the gradient of y also flows through the copied nodes.

A tree over N tokens is a sequence of N - 1 merges. Each merge is the index, counted from 0, of the
pair's left node among the remaining nodes. Batches are padded with -1.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Optional, Union

import torch
from torch import Tensor

from allennlp_sentmatch.nn import gumbel_softmax
from allennlp_sentmatch.nn.checks import POSITIVE, check_choice, check_kind, check_positive
from allennlp_sentmatch.nn.configured_module import ConfiguredModule, handed_out
from allennlp_sentmatch.nn.ops.common.autocast import without_autocast
from allennlp_sentmatch.nn.ops.common.execution import has_values, is_exporting
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.naive import Choices, TreeWeights
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.recurrence import tree_recurrence
from allennlp_sentmatch.nn.padding import check_padded, clear_padding, mask_of
from allennlp_sentmatch.nn.recurrent_networks import StatesLSTM


class TreeComposition(NamedTuple):
    """The root and the tree of each sentence."""

    hidden: Tensor  # (B, H)
    cell: Tensor  # (B, H)
    merges: Tensor  # (B, T - 1), long, as in the module's docstring


class Composition(ConfiguredModule):
    """The parameters of the linear map of (3.1), `weight` (5H, 2H) and `bias` (5H)."""

    def __init__(self, node_size: int) -> None:
        super().__init__()
        self.node_size = node_size
        linear = torch.nn.Linear(2 * node_size, 5 * node_size)
        self.weight = linear.weight
        self.bias = linear.bias

    def forward(self) -> tuple[Tensor, ...]:
        """Return the parameters; calling the module runs its hooks, such as pruning's."""
        return handed_out(self, self.weight, self.bias)


class GumbelTreeLSTM(torch.nn.Module):
    """The Gumbel Tree-LSTM sentence encoder (equations in the module's docstring).

    Its parts are `leaf`, a one-layer `torch.nn.LSTM` or a `torch.nn.Linear(input_size, 2H)` whose
    output is [h; c]; `composition`, `weight` (5H, 2H) and `bias` (5H) with the blocks i, f_l, f_r,
    o, g; and the parameter `query` (H). H, the size of a node, is `hidden_size`, or with the
    leaf "bilstm" twice as large.

    It computes in the precision of its parameters, under autocast as well.

    # Parameters

    input_size : `int`
        The size of a token's vector.
    hidden_size : `int`
        The size of a node's hidden state, or of each half of it with the leaf "bilstm".
    leaf : `str`, optional (default = `"lstm"`)
        The map from tokens to leaves: "lstm", "bilstm" or "affine".
    temperature : `float`, optional (default = `1.0`)
        The temperature of the Gumbel-softmax's relaxation. Positive.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        leaf: Literal["lstm", "bilstm", "affine"] = "lstm",
        temperature: float = 1.0,
    ) -> None:
        super().__init__()
        check_positive(input_size=input_size, hidden_size=hidden_size)
        check_choice("lstm", "bilstm", "affine", leaf=leaf)
        check_kind(POSITIVE, temperature=temperature)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.leaf_kind = leaf
        self.temperature = temperature
        self.leaf: Union[torch.nn.LSTM, torch.nn.Linear]
        if leaf == "affine":
            self.leaf = torch.nn.Linear(input_size, 2 * hidden_size)
        else:
            self.leaf = StatesLSTM(
                input_size, hidden_size, batch_first=True, bidirectional=leaf == "bilstm"
            )
        node_size = self.output_size
        self.composition = Composition(node_size)
        self.query = torch.nn.Parameter(torch.empty(node_size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the query as in the thesis, section 3.5.1."""
        torch.nn.init.normal_(self.query, std=0.01)

    @property
    def output_size(self) -> int:
        """Return the size of a node, which is the size of the encoding."""
        bidirectional = isinstance(self.leaf, torch.nn.LSTM) and self.leaf.bidirectional
        return self.hidden_size * (1 + bidirectional)

    def extra_repr(self) -> str:
        """Return the settings, in the constructor's order."""
        sizes = f"{self.input_size}, {self.hidden_size}"
        return f"{sizes}, leaf={self.leaf_kind!r}, temperature={self.temperature}"

    def forward(self, inputs: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        """Return `hidden` of `compose`, zero for a sentence without tokens."""
        return self.compose(inputs, mask).hidden

    def compose(
        self,
        inputs: Tensor,
        mask: Optional[Tensor] = None,
        merges: Optional[Tensor] = None,
    ) -> TreeComposition:
        """Compose each sentence, inputs (B, T, input_size) with the mask (B, T), into a node.

        Given trees, for instance a parser's, are `merges` as in the result; by default, the model
        chooses. Raise `TypeError` if they are not long, and `ValueError` if they have another
        shape or an index without a pair.
        """
        inputs, full_mask = check_padded(inputs, mask, self.input_size, self.query.dtype)
        if merges is not None:
            check_merges(merges, full_mask)
        # Half precision is too coarse for the small differences of scores that decide a tree.
        with without_autocast(inputs.device):
            hidden, cell = self._leaves(inputs, mask)
            noise = None
            if self.training and merges is None:
                noise = _draw_noise(hidden)
            weight, bias = self.composition()
            weights = TreeWeights(weight, bias, self.query)
            choices = Choices(merges, noise, self.temperature)
            return TreeComposition(*tree_recurrence(hidden, cell, mask, weights, choices))

    def _leaves(self, inputs: Tensor, mask: Optional[Tensor]) -> tuple[Tensor, Tensor]:
        """Return h and c of each token, (B, T, H) each and zero at padding."""
        if isinstance(self.leaf, torch.nn.LSTM):
            states: tuple[Tensor, Tensor] = self.leaf(inputs, mask)
            return states
        full_mask = mask_of(inputs, mask)
        leaves = clear_padding(self.leaf(clear_padding(inputs, full_mask)), full_mask)
        hidden, cell = leaves.chunk(2, -1)
        return hidden, cell


def _draw_noise(hidden: Tensor) -> Sequence[Tensor]:
    """Draw Gumbel noise for the pairs of each layer over leaves (B, T, H), as in `Choices`."""
    if is_exporting():
        raise RuntimeError("GumbelTreeLSTM samples in training: export encoder.eval()")
    B, T, _ = hidden.shape
    num_pairs = list(range(T - 1, 0, -1))
    of_layers = hidden.new_empty(B, sum(num_pairs))
    noise: Sequence[Tensor] = gumbel_softmax.gumbel_noise(of_layers).split(num_pairs, 1)
    return noise


def bracketing(merges: Union[Tensor, Sequence[int]], tokens: Sequence[str]) -> str:
    """Render a tree as nested parentheses, such as "((the cat) (sat down))".

    `merges` is one sentence's row of `TreeComposition.merges`. Entries after the first `len(tokens)
    - 1` are ignored. Raise `ValueError` if the others are not a tree. Parentheses in tokens are
    written as -LRB- and -RRB-, as in the Penn Treebank.
    """
    nodes = [token.replace("(", "-LRB-").replace(")", "-RRB-") for token in tokens]
    indices = [int(index) for index in merges]
    if len(indices) < len(nodes) - 1:
        raise ValueError(
            f"merges must hold {len(nodes) - 1} steps for {len(nodes)} tokens, got {len(indices)}"
        )
    num_merges = max(len(nodes) - 1, 0)
    for step, index in enumerate(indices[:num_merges]):
        if not 0 <= index < len(nodes) - 1:
            raise ValueError(
                f"merges[{step}] must lie between 0 and {len(nodes) - 2}, for {len(nodes)} nodes "
                f"are left of {len(tokens)} tokens; got {index}"
            )
        nodes[index : index + 2] = [f"({nodes[index]} {nodes[index + 1]})"]
    return nodes[0] if nodes else ""


def check_merges(merges: Tensor, mask: Tensor) -> None:
    """Raise the errors of `GumbelTreeLSTM.compose` unless `merges` is a tree over each sentence of
    the `mask`. The values are not checked under `torch.compile` and `torch.export`.
    """
    if merges.dtype != torch.long:
        raise TypeError(f"merges must be long, got {merges.dtype}; call merges.long()")
    steps = max(mask.size(1) - 1, 0)
    expected = (mask.size(0), steps)
    if merges.shape != expected:
        raise ValueError(
            f"merges must have the shape (batch_size, sequence_length - 1) = {expected}, "
            f"got {tuple(merges.shape)}"
        )
    if not has_values(merges):
        return
    merged = torch.arange(steps, device=mask.device)
    pairs = mask.sum(1, keepdim=True) - 1 - merged  # (B, T - 1)
    is_outside = (merges < 0) | (merges >= pairs)
    wrong = is_outside & (pairs > 0)
    if wrong.any():
        row, step = (int(index) for index in wrong.nonzero()[0])
        raise ValueError(
            f"merges[{row}, {step}] must lie between 0 and {int(pairs[row, step]) - 1}, "
            f"got {int(merges[row, step])}"
        )
