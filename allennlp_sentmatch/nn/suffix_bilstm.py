r"""Suffix bidirectional LSTM (SuBiLSTM): every prefix and every suffix, read in both directions.

Brahma, "Improved Sentence Modeling using Suffix Bidirectional LSTM" (AAAI 2019). Of a sentence
x_1 ... x_n, the last hidden states of four LSTMs encode for each token i

    p_i  = L_p (x_1 ... x_i)     the prefix, from left to right    (1)
    s_i  = L_s (x_i ... x_n)     the suffix, from left to right    (2)
    p'_i = L'_p(x_i ... x_1)     the prefix, from right to left    (3)
    s'_i = L'_s(x_n ... x_i)     the suffix, from right to left    (4)

and the output is

    H_i = [combine(p_i, s_i); combine(p'_i, s'_i)]                 (5)

The paper's model combines by the maximum. It also names the mean, the concatenation and a learned
gate, which is r * p + (1 - r) * s with r = sigmoid(W [p; s] + b) here. In the tied model L_p = L_s
and L'_p = L'_s (6). A GRU may stand for the LSTM:

    r = sigmoid(W_r x + U_r h + b_r),   z likewise
    n = tanh(W_n x + b_n + r * (U_n h)),   h' = (1 - z) * n + z * h

A context of at most k tokens makes of s_i the encoding of x_i ... x_{i+k-1}, of p_i that of
x_{i-k+1} ... x_i, and likewise from right to left.
"""

import math
from collections.abc import Sequence
from typing import Literal, Optional

import torch
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.backends import Name, resolve
from allennlp_sentmatch.nn.ops.common.autocast import widened, without_autocast
from allennlp_sentmatch.nn.ops.common.products import linear
from allennlp_sentmatch.nn.ops.common.reversal import reversed_places
from allennlp_sentmatch.nn.ops.suffix.recurrence import (
    suffix_recurrence as fast_suffix_recurrence,
)


class SuffixCell(torch.nn.Module):
    """The parameters of an LSTM or GRU cell, with one bias vector.

    These are `weight_ih_l0` (GH, D), `weight_hh_l0` (GH, H) and `bias_l0` (GH), where G is 4 and
    the blocks are i, f, g, o for an LSTM; for a GRU G is 3, the blocks are r, z, n, and the bias
    stands on the input's side. They are drawn as `torch.nn.LSTM` draws its own.
    """

    def __init__(self, input_size: int, hidden_size: int, num_gates: int) -> None:
        super().__init__()
        rows = num_gates * hidden_size
        self.weight_ih_l0 = torch.nn.Parameter(torch.empty(rows, input_size))
        self.weight_hh_l0 = torch.nn.Parameter(torch.empty(rows, hidden_size))
        self.bias_l0 = torch.nn.Parameter(torch.empty(rows))
        bound = 1 / math.sqrt(hidden_size)
        for parameter in self.parameters():
            torch.nn.init.uniform_(parameter, -bound, bound)


class SuffixBiLSTM(torch.nn.Module):
    """The SuBiLSTM of Brahma (2019); equations in the module's docstring.

    Its submodules are the `SuffixCell`s `forward_cell` (L_p) and `reverse_cell` (L'_s); the untied
    model also has `forward_suffix_cell` (L_s) and `reverse_prefix_cell` (L'_p). With the
    combination "gate" there are `forward_gate` and `reverse_gate`, each a
    `torch.nn.Linear(2H, H)` over [prefix; suffix].

    The suffixes of all tokens advance together, so that T tokens take T steps, and the input of a
    cell is projected once for each token. The arithmetic of a direction is that of T (T + 1) / 2
    tokens, or with a bounded context of at most T k.

    # Parameters

    input_size : `int`
        D, the size of a token's vector.
    hidden_size : `int`
        H, the size of one encoding.
    tied : `bool`, optional (default = `True`)
        Whether one cell encodes both the prefixes and the suffixes of a direction.
    combination : `str`, optional (default = `"max"`)
        How the encodings of a prefix and a suffix become one: "max", "mean", "concat" or "gate".
    cell : `str`, optional (default = `"lstm"`)
        "lstm" or "gru".
    max_context : `int`, optional (default = `None`)
        k: all four encodings see at most the k tokens nearest to token i, token i included.
        `None`: there is no bound.

    # Raises

    `ValueError`
        If a size or `max_context` is not positive, or there is no such combination or cell.
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
    ) -> None:
        super().__init__()
        for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
            if size < 1:
                raise ValueError(f"{name} must be at least 1, got {size}")
        if combination not in ("max", "mean", "concat", "gate"):
            raise ValueError(
                f'combination must be "max", "mean", "concat" or "gate", got {combination!r}'
            )
        if cell not in ("lstm", "gru"):
            raise ValueError(f'cell must be "lstm" or "gru", got {cell!r}')
        if max_context is not None and max_context < 1:
            raise ValueError(f"max_context must be at least 1 or None, got {max_context}")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.tied = tied
        self.combination = combination
        self.cell = cell
        self.max_context = max_context
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
        """The width of the outputs: `2 * hidden_size`, with "concat" `4 * hidden_size`."""
        return self.hidden_size * (4 if self.combination == "concat" else 2)

    def forward(self, inputs: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Encode a batch of sentences.

        # Parameters

        inputs : `torch.Tensor`
            Shape (B, T, D).
        mask : `torch.Tensor`
            Shape (B, T), bool, right-padded.

        # Returns

        `torch.Tensor`
            Shape (B, T, output_size), zero at padded steps.
        """
        # Longest first, as `suffix_recurrence` has it, and no further than the longest.
        lengths, order = mask.sum(1).sort(descending=True, stable=True)
        sizes = _num_sentences_at_each_token(lengths, inputs.size(1))
        if not sizes:
            return inputs.new_zeros(*mask.shape, self.output_size)
        sorted_mask = mask[order, : len(sizes)]
        padding = ~sorted_mask.unsqueeze(-1)  # (B, T, 1)
        # What is in the padding must not matter, not even in a product with zero.
        tokens = inputs[order, : len(sizes)].masked_fill(padding, 0.0)
        # Read from its end, a sentence's suffixes are prefixes and the other way round.
        reverse = reversed_places(sorted_mask)
        (prefixes, mirrored_suffixes), (suffixes, mirrored_prefixes) = self._read(
            torch.stack([tokens, tokens[reverse]]), sizes
        )
        outputs_forward = self._combine(prefixes, suffixes, "forward_gate")
        outputs_reverse = self._combine(
            mirrored_prefixes[reverse], mirrored_suffixes[reverse], "reverse_gate"
        )
        outputs = torch.cat([outputs_forward, outputs_reverse], -1).masked_fill(padding, 0.0)
        outputs = F.pad(outputs, (0, 0, 0, inputs.size(1) - len(sizes)))
        return outputs[order.argsort()]

    def _read(self, tokens: torch.Tensor, sizes: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        """The encodings of all prefixes and suffixes from left to right, (2, B, T, H) each.

        `tokens` (2, B, T, D) are the sentences as they are and from their end.
        """
        T = len(sizes)
        window = T if self.max_context is None else self.max_context
        tokens = tokens.transpose(1, 2)  # (2, T, B, D)

        def run(
            cells: tuple[SuffixCell, SuffixCell], num_starts: int
        ) -> tuple[torch.Tensor, torch.Tensor]:
            encodings = read_suffixes(tokens, cells, sizes, window, num_starts, self.cell)
            return encodings[0].transpose(1, 2), encodings[1].transpose(1, 2)

        cells = (self.forward_cell, self.reverse_cell)
        if self.tied:
            return run(cells, T)
        # A prefix is what a suffix that began `window` tokens ago, or with the sentence, has read
        # so far. Where prefixes alone are wanted, no suffix has to begin later than this.
        prefixes, _ = run(cells, min(max(T - window, 0) + 1, T))
        _, suffixes = run((self.forward_suffix_cell, self.reverse_prefix_cell), T)
        return prefixes, suffixes

    def _combine(self, prefix: torch.Tensor, suffix: torch.Tensor, gate: str) -> torch.Tensor:
        """Eq. 5 in one direction: (B, T, H), or (B, T, 2H) with "concat"."""
        if self.combination == "max":
            return torch.maximum(prefix, suffix)
        if self.combination == "mean":
            return (prefix + suffix) / 2
        both = torch.cat([prefix, suffix], -1)  # (B, T, 2H)
        if self.combination == "concat":
            return both
        r = torch.sigmoid(self.get_submodule(gate)(both)).to(prefix.dtype)  # (B, T, H)
        return r * prefix + (1 - r) * suffix


def read_suffixes(
    tokens: torch.Tensor,
    cells: Sequence[SuffixCell],
    sizes: list[int],
    window: int,
    num_starts: int,
    kind: Literal["lstm", "gru"],
) -> tuple[torch.Tensor, torch.Tensor]:
    """`suffix_recurrence` by each of S cells over its own `tokens` (S, T, B, D).

    # Returns

    `Tuple[torch.Tensor, torch.Tensor]`
        The encodings of the prefixes (S, T, B, H) and of the suffixes (S, num_starts, B, H).
    """
    weights = [cell.weight_hh_l0 for cell in cells]
    tokens = widened(tokens, weights[0])
    implementations: tuple[Name, ...] = (
        ("naive", "eager", "cpu") if kind == "lstm" else ("naive", "eager")
    )
    backend = resolve(f"SuBiLSTM of {kind} cells", implementations, tokens, *weights)
    if backend.name != "naive":
        with without_autocast(tokens.device):
            projected = [
                linear(
                    of_cell.reshape(1, -1, of_cell.size(-1)),
                    cell.weight_ih_l0.unsqueeze(0),
                    cell.bias_l0.unsqueeze(0),
                )
                for of_cell, cell in zip(tokens, cells)
            ]  # (1, T * B, GH) each
            in_steps = torch.cat(projected).view(*tokens.shape[:3], -1)  # (S, T, B, GH)
            return fast_suffix_recurrence(
                backend, in_steps, weights, sizes, window, num_starts, kind
            )
    encodings = []
    for of_cell, cell in zip(tokens, cells):
        x = F.linear(of_cell, cell.weight_ih_l0, cell.bias_l0)  # (T, B, GH)
        x = x.to(cell.weight_hh_l0.dtype)  # autocast narrows the products, not the states
        encodings.append(suffix_recurrence(x, cell.weight_hh_l0, sizes, window, num_starts, kind))
    prefixes, suffixes = zip(*encodings)
    return torch.stack(prefixes), torch.stack(suffixes)


def suffix_recurrence(
    projected: torch.Tensor,
    weight_hh: torch.Tensor,
    sizes: list[int],
    window: int,
    num_starts: int,
    cell: Literal["lstm", "gru"],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Reads the suffixes of all tokens from left to right, all of them at once.

    # Parameters

    projected : `torch.Tensor`
        Shape (T, B, GH): W x_t + b, of the longest sentence first.
    weight_hh : `torch.Tensor`
        Shape (GH, H).
    sizes : `List[int]`
        The number of sentences that have a token t, for each of the T tokens.
    window : `int`
        No suffix is read further than this many tokens.
    num_starts : `int`
        Only the suffixes that begin at one of this many first tokens are read.
    cell : `str`
        "lstm" or "gru".

    # Returns

    `Tuple[torch.Tensor, torch.Tensor]`
        The encodings of the prefixes of at most `window` tokens, (T, B, H), and of the suffixes,
        (num_starts, B, H). At padding they are of no use, but finite.
    """
    step = lstm_step if cell == "lstm" else gru_step
    B, H = projected.size(1), weight_hh.size(1)
    # The states of the suffixes begun so far, (S, t, B, H): S is 2, h and c, or 1.
    states = projected.new_zeros(2 if cell == "lstm" else 1, 0, B, H)
    prefixes = projected.new_zeros(0, B, H)
    for t, size in enumerate(sizes):
        if t < num_starts:
            states = F.pad(states, (0, 0, 0, 0, 0, 1))
        first = max(0, t + 1 - window)  # those before have read all they may
        reading = states[:, first:]
        u = F.linear(reading[0], weight_hh).to(projected.dtype)  # (t - first + 1, B, GH)
        has_token = (torch.arange(B, device=u.device) < size).unsqueeze(1)  # (B, 1)
        reading = torch.where(has_token, step(projected[t], u, reading), reading)
        states = torch.cat([states[:, :first], reading], 1)
        prefixes = torch.cat([prefixes, reading[0, :1]])
    return prefixes, states[0]


def lstm_step(x: torch.Tensor, u: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """The next h and c of an LSTM, stacked, from W x + b (B, 4H) and U h (..., B, 4H)."""
    i, f, g, o = (x + u).chunk(4, -1)
    c = f.sigmoid() * states[1] + i.sigmoid() * g.tanh()
    return torch.stack([o.sigmoid() * c.tanh(), c])


def gru_step(x: torch.Tensor, u: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """The next h of a GRU, (1, ..., B, H), from W x + b (B, 3H) and U h (..., B, 3H)."""
    x_r, x_z, x_n = x.chunk(3, -1)
    u_r, u_z, u_n = u.chunk(3, -1)
    z = (x_z + u_z).sigmoid()
    n = (x_n + (x_r + u_r).sigmoid() * u_n).tanh()
    return (1 - z) * n + z * states


def _num_sentences_at_each_token(lengths: torch.Tensor, num_tokens: int) -> list[int]:
    """How many of the `lengths` (B) exceed t, for each t below their maximum."""
    tokens = torch.arange(num_tokens, device=lengths.device).unsqueeze(1)  # (T, 1)
    return [size for size in (tokens < lengths).sum(1).tolist() if size]
