r"""Suffix bidirectional LSTM (SuBiLSTM): encodings of every prefix and suffix in both directions.

Brahma (2018), "Improved Sentence Modeling using Suffix Bidirectional LSTM". For each token i
of a sentence x_1 ... x_n, the last hidden states of four LSTMs encode

    p_i  = L_p (x_1 ... x_i)     the prefix, from left to right    (1)
    s_i  = L_s (x_i ... x_n)     the suffix, from left to right    (2)
    p'_i = L'_p(x_i ... x_1)     the prefix, from right to left    (3)
    s'_i = L'_s(x_n ... x_i)     the suffix, from right to left    (4)

and the output is

    H_i = [combine(p_i, s_i); combine(p'_i, s'_i)]                 (5)

The paper's model combines by the maximum. The paper also names the mean, the concatenation and a
learned gate, here r * p + (1 - r) * s with r = sigmoid(W [p; s] + b). In the tied model L_p = L_s
and L'_p = L'_s (6). The cell can also be a GRU, whose U h has no bias.

With a context of at most k tokens, s_i encodes x_i ... x_{i+k-1} and p_i encodes x_{i-k+1} ... x_i,
and likewise from right to left. k can be random in training.
"""

from typing import Literal, Optional, Union

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.checks import COUNT, check_choice, check_kind, check_positive, optional
from allennlp_sentmatch.nn.configured_module import (
    ConfiguredModule,
    SequenceEncoder,
    handed_out,
    uniform_parameter,
)
from allennlp_sentmatch.nn.ops.common.execution import has_values, is_exporting
from allennlp_sentmatch.nn.ops.common.packing import order_by_length, reversed_indices
from allennlp_sentmatch.nn.ops.subilstm.naive import SuffixWeights
from allennlp_sentmatch.nn.ops.subilstm.recurrence import suffix_recurrence
from allennlp_sentmatch.nn.padding import check_padded, clear_padding, zero_outputs


class SuffixCell(ConfiguredModule):
    """The parameters of an LSTM or GRU cell, with one bias vector.

    These are `weight_ih_l0` (GH, D), `weight_hh_l0` (GH, H) and `bias_l0` (GH). For an LSTM, G is 4
    and the blocks are i, f, g, o; for a GRU, G is 3, the blocks are r, z, n, and the bias belongs
    to the input's projection. They are initialized as in `torch.nn.LSTM`.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_gates: int,
    ) -> None:
        super().__init__()
        rows = num_gates * hidden_size
        bound = hidden_size**-0.5
        self.weight_ih_l0 = uniform_parameter(rows, input_size, bound=bound)
        self.weight_hh_l0 = uniform_parameter(rows, hidden_size, bound=bound)
        self.bias_l0 = uniform_parameter(rows, bound=bound)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_gates = num_gates

    def forward(self) -> SuffixWeights:
        """Return the parameters; calling the module runs its hooks, such as pruning's."""
        return SuffixWeights(*handed_out(self, self.weight_ih_l0, self.weight_hh_l0, self.bias_l0))


class SuffixBiLSTM(SequenceEncoder):
    """The SuBiLSTM of Brahma (2018); equations in the module's docstring.

    Its submodules are the `SuffixCell`s `forward_cell` (L_p) and `reverse_cell` (L'_s); the untied
    model also has `forward_suffix_cell` (L_s) and `reverse_prefix_cell` (L'_p). With the
    combination "gate" there are `forward_gate` and `reverse_gate`, each a
    `torch.nn.Linear(2H, H)` over [prefix; suffix].

    The suffixes of all tokens advance together, so that T tokens take T steps, and a cell projects
    each token once. A direction costs the arithmetic of T (T + 1) / 2 tokens, or of at most T k
    with a context of k. Training takes memory that grows with T sqrt(T), or with T with a context.

    # Parameters

    input_size : `int`
        D, the size of a token's vector.
    hidden_size : `int`
        H, the size of one encoding.
    tied : `bool`, optional (default = `True`)
        Whether one cell encodes both the prefixes and the suffixes of a direction.
    combination : `str`, optional (default = `"max"`)
        The combination of a prefix's and a suffix's encoding: "max", "mean", "concat" or "gate".
    cell : `str`, optional (default = `"lstm"`)
        "lstm" or "gru".
    max_context : `int`, optional (default = `None`)
        k, the largest number of tokens that an encoding sees: the tokens nearest to token i,
        including it. `None` means all tokens.
    random_context : `bool`, optional (default = `False`)
        Whether training draws a new k, from 1 to `max_context`, for each batch. Evaluation uses
        `max_context`. The paper names "suffixes of fixed or small random lengths" as future work,
        without saying how they are drawn.
    """

    #: The output is [left-to-right; right-to-left].
    bidirectional = True

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        tied: bool = True,
        combination: Literal["max", "mean", "concat", "gate"] = "max",
        cell: Literal["lstm", "gru"] = "lstm",
        max_context: Optional[int] = None,
        random_context: bool = False,
    ) -> None:
        super().__init__()
        check_positive(input_size=input_size, hidden_size=hidden_size)
        check_choice("max", "mean", "concat", "gate", combination=combination)
        check_choice("lstm", "gru", cell=cell)
        check_kind(optional(COUNT), max_context=max_context)
        if random_context and max_context is None:
            raise ValueError("random_context=True needs max_context, the largest one to be drawn")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.tied = tied
        self.combination = combination
        self.cell = cell
        self.max_context = max_context
        self.random_context = random_context
        num_gates = 4 if cell == "lstm" else 3
        self.forward_cell = SuffixCell(input_size, hidden_size, num_gates)
        self.reverse_cell = SuffixCell(input_size, hidden_size, num_gates)
        if not tied:
            self.forward_suffix_cell = SuffixCell(input_size, hidden_size, num_gates)
            self.reverse_prefix_cell = SuffixCell(input_size, hidden_size, num_gates)
        if combination == "gate":
            self.forward_gate = torch.nn.Linear(2 * hidden_size, hidden_size)
            self.reverse_gate = torch.nn.Linear(2 * hidden_size, hidden_size)

    @property
    def output_size(self) -> int:
        """Return the size of the outputs, `2 * hidden_size` or with "concat" `4 * hidden_size`."""
        return self.hidden_size * (4 if self.combination == "concat" else 2)

    def forward(self, inputs: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        """Encode a batch of sentences; see `SequenceEncoder`."""
        dtype = self.forward_cell.bias_l0.dtype
        inputs, full_mask = check_padded(inputs, mask, self.input_size, dtype)
        B, T, _ = inputs.shape
        if T > 0 and not has_values(full_mask):  # lengths are not numbers either
            return self._encode_batch(inputs, full_mask, full_mask.t())
        if mask is None:
            sizes = [B] * T if B else []
        else:
            # Sort the sentences as `suffix_recurrence` expects and trim them to the longest one.
            _, order, sizes = order_by_length(mask)
        if not sizes:
            return zero_outputs(self, inputs, (B, T, self.output_size))
        if mask is None:
            return self._encode_batch(inputs, full_mask, sizes)
        rows = (order, slice(len(sizes)))
        outputs = self._encode_batch(inputs[rows], mask[rows], sizes)
        padded = F.pad(outputs, (0, 0, 0, T - len(sizes)))
        return padded[order.argsort()]

    def _encode_batch(
        self,
        inputs: Tensor,
        mask: Tensor,
        sizes: Union[list[int], Tensor],
    ) -> Tensor:
        """Encode sentences in the layout of `suffix_recurrence`, which documents `sizes`."""
        tokens = clear_padding(inputs, mask)
        # The suffixes of a reversed sentence are the reversed prefixes, and vice versa.
        reverse = reversed_indices(mask)
        both = torch.stack([tokens, tokens[reverse]])
        (prefixes, mirrored_suffixes), (suffixes, mirrored_prefixes) = self._encode(both, sizes)
        outputs_forward = self._combine(prefixes, suffixes, "forward_gate")
        outputs_reverse = self._combine(
            mirrored_prefixes[reverse], mirrored_suffixes[reverse], "reverse_gate"
        )
        return clear_padding(torch.cat([outputs_forward, outputs_reverse], -1), mask)

    def _encode(self, tokens: Tensor, sizes: Union[list[int], Tensor]) -> tuple[Tensor, Tensor]:
        """Encode all prefixes and suffixes from left to right, (2, B, T, H) each.

        `tokens` (2, B, T, D) are the sentences and the reversed sentences.
        """
        T = tokens.size(2)
        window = T if self.max_context is None else self._context(self.max_context)
        cells = (self.forward_cell, self.reverse_cell)
        if self.tied:
            return self._run_cells(cells, tokens, sizes, window, T)
        # The prefix at a token is the current part of a suffix that began `window` tokens ago, or
        # at the first token. If only prefixes are needed, no suffix needs to begin later.
        num_starts = T if is_exporting() else min(max(T - window, 0) + 1, T)
        prefixes, _ = self._run_cells(cells, tokens, sizes, window, num_starts)
        suffix_cells = (self.forward_suffix_cell, self.reverse_prefix_cell)
        _, suffixes = self._run_cells(suffix_cells, tokens, sizes, window, T)
        return prefixes, suffixes

    def _run_cells(
        self,
        cells: tuple[SuffixCell, SuffixCell],
        tokens: Tensor,
        sizes: Union[list[int], Tensor],
        window: int,
        num_starts: int,
    ) -> tuple[Tensor, Tensor]:
        """Call `suffix_recurrence` for tokens (2, B, T, D) and encodings (2, B, T, H)."""
        # Before torch 2.2, backward hooks make a plain tuple of a named one.
        weights = [SuffixWeights._make(cell()) for cell in cells]
        by_token = tokens.transpose(1, 2)  # (2, T, B, D)
        prefixes, suffixes = suffix_recurrence(
            by_token, weights, sizes, window, num_starts, self.cell
        )
        return prefixes.transpose(1, 2), suffixes.transpose(1, 2)

    def _context(self, max_context: int) -> int:
        """Return the context of a batch, which may be drawn in training."""
        if not (self.training and self.random_context):
            return max_context
        drawn = torch.randint(1, max_context + 1, ())
        return int(drawn) if has_values(drawn) else max_context

    def _combine(
        self,
        prefix: Tensor,
        suffix: Tensor,
        gate: str,
    ) -> Tensor:
        """Combine one direction by eq. 5: (B, T, H), or (B, T, 2H) with "concat"."""
        if self.combination == "max":
            return torch.maximum(prefix, suffix)
        if self.combination == "mean":
            return (prefix + suffix) / 2
        both = torch.cat([prefix, suffix], -1)  # (B, T, 2H)
        if self.combination == "concat":
            return both
        r = torch.sigmoid(self.get_submodule(gate)(both)).to(prefix.dtype)  # (B, T, H)
        return r * prefix + (1 - r) * suffix
