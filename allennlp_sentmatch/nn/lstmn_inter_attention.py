r"""Two LSTMNs with inter-attention: a pair of sentences as one vector.

Ersü, "Long Short-Term Memory-Networks for Machine Reading", section 3, after the word-by-word
attention model of Rocktäschel et al. 2016. Two LSTMNs, each with its own weights, read the premise
and the hypothesis. With Y the premise's hidden tape and h_N the hypothesis's last hidden state,

    s = w^T tanh(W^y Y + W^h h_N)         (14)
    alpha = softmax(s)                    (15)
    r = Y alpha^T                         (16)
    h* = tanh(W^p r + W^x h_N)            (17)
"""

import math
from typing import Literal, NamedTuple, Optional, Union, overload

import torch
from torch.nn import functional as F

from allennlp_sentmatch.nn.lstmn import LSTMN


class PairAttention(NamedTuple):
    """The outputs and the attention of an `LSTMNInterAttention`; shapes as in its `forward`."""

    premise: torch.Tensor
    hypothesis: torch.Tensor
    inter: torch.Tensor


class LSTMNInterAttention(torch.nn.Module):
    """Two LSTMNs with inter-attention (equations 14-17 of the module's docstring).

    Its parameters are those of `premise_reader` and `hypothesis_reader`, each an `LSTMN` from left
    to right, and `attention_premise` (A, H), `attention_hypothesis` (A, H), `attention_vector`
    (A), `output_premise` (H, H) and `output_hypothesis` (H, H): the report's W^y, W^h, w, W^p and
    W^x.

    # Parameters

    input_size : `int`
        D, the size of a token's vector.
    hidden_size : `int`
        H, the size of both readers' hidden states and of the pair's vector.
    attention_size : `int`, optional (default = `hidden_size`)
        A, the size of the layer that scores tokens, in the readers and between them.
    start_from_premise : `bool`, optional (default = `False`)
        Whether the hypothesis's reader begins where the premise's ended: its h~ and c~ at the
        first token, where its own tapes are still empty, are the premise's last h and c.

    # Raises

    `ValueError`
        If a size is not positive.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        attention_size: Optional[int] = None,
        start_from_premise: bool = False,
    ) -> None:
        super().__init__()
        self.premise_reader = LSTMN(input_size, hidden_size, attention_size)
        self.hypothesis_reader = LSTMN(input_size, hidden_size, attention_size)
        self.start_from_premise = start_from_premise
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.attention_size = self.premise_reader.attention_size

        def parameter(*shape: int) -> torch.nn.Parameter:
            bound = 1 / math.sqrt(hidden_size)
            return torch.nn.Parameter(torch.empty(shape).uniform_(-bound, bound))

        self.attention_premise = parameter(self.attention_size, hidden_size)
        self.attention_hypothesis = parameter(self.attention_size, hidden_size)
        self.attention_vector = parameter(self.attention_size)
        self.output_premise = parameter(hidden_size, hidden_size)
        self.output_hypothesis = parameter(hidden_size, hidden_size)

    @property
    def output_size(self) -> int:
        """The size of the pair's vector."""
        return self.hidden_size

    @overload
    def forward(
        self,
        premise: torch.Tensor,
        premise_mask: torch.Tensor,
        hypothesis: torch.Tensor,
        hypothesis_mask: torch.Tensor,
        return_attention: Literal[False] = False,
    ) -> torch.Tensor: ...

    @overload
    def forward(
        self,
        premise: torch.Tensor,
        premise_mask: torch.Tensor,
        hypothesis: torch.Tensor,
        hypothesis_mask: torch.Tensor,
        return_attention: Literal[True],
    ) -> tuple[torch.Tensor, PairAttention]: ...

    def forward(
        self,
        premise: torch.Tensor,
        premise_mask: torch.Tensor,
        hypothesis: torch.Tensor,
        hypothesis_mask: torch.Tensor,
        return_attention: bool = False,
    ) -> Union[torch.Tensor, tuple[torch.Tensor, PairAttention]]:
        """Encode a batch of pairs.

        # Parameters

        premise, hypothesis : `torch.Tensor`
            Shapes (batch_size, premise_length, input_size) and
            (batch_size, hypothesis_length, input_size).
        premise_mask, hypothesis_mask : `torch.Tensor`
            Shapes (batch_size, premise_length) and (batch_size, hypothesis_length), bool,
            right-padded.
        return_attention : `bool`, optional (default = `False`)

        # Returns

        `torch.Tensor`, or with `return_attention` a pair of it and a `PairAttention`
            h*, shape (batch_size, output_size); an empty sentence's part in it is zero. Of the
            attention, `premise` (batch_size, premise_length, premise_length) and `hypothesis`
            (batch_size, hypothesis_length, hypothesis_length) are the readers' own, as of `LSTMN`;
            `inter` (batch_size, premise_length) is alpha, zero at padding.
        """
        read = self.premise_reader.read(premise, premise_mask)
        last = _last(read.hidden, premise_mask), _last(read.cell, premise_mask)
        read_on = self.hypothesis_reader.read(
            hypothesis, hypothesis_mask, last if self.start_from_premise else None
        )
        query = _last(read_on.hidden, hypothesis_mask)  # h_N, (B, H)
        encoding, weights = self._attend(read.hidden, premise_mask, query)
        if not return_attention:
            return encoding
        assert isinstance(read.attention, torch.Tensor)  # as of readers in one direction
        assert isinstance(read_on.attention, torch.Tensor)
        return encoding, PairAttention(read.attention, read_on.attention, weights)

    def _attend(
        self, tape: torch.Tensor, mask: torch.Tensor, query: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """h* (B, H) and alpha (B, T) of Y (B, T, H) and h_N (B, H)."""
        hidden_layer = torch.tanh(
            F.linear(tape, self.attention_premise)
            + F.linear(query, self.attention_hypothesis).unsqueeze(1)
        )  # (B, T, A)
        scores = (hidden_layer @ self.attention_vector).to(tape.dtype)  # (B, T)
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(1) * mask  # zero for an empty premise, else sums to one
        summary = (weights.unsqueeze(2) * tape).sum(1)  # (B, H)
        encoding = torch.tanh(
            F.linear(summary, self.output_premise) + F.linear(query, self.output_hypothesis)
        )
        return encoding.to(tape.dtype), weights


def _last(tape: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Each sentence's last state, (B, H), of a tape (B, T, H); zero for an empty sentence."""
    position = torch.arange(mask.size(1), device=mask.device)
    is_last = position == mask.sum(1, keepdim=True) - 1  # (B, T)
    return (tape * is_last.unsqueeze(2)).sum(1)
