r"""Two LSTMNs with inter-attention, which encode a pair of sentences as one vector.

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
from allennlp_sentmatch.nn.masked_softmax import masked_softmax


class PairAttention(NamedTuple):
    """The outputs and the attention of an `LSTMNInterAttention`; shapes as in its `forward`."""

    premise: torch.Tensor
    hypothesis: torch.Tensor
    inter: torch.Tensor


class LSTMNInterAttention(torch.nn.Module):
    """Two LSTMNs with inter-attention (equations 14-17 of the module's docstring).

    Its parameters are those of `premise_reader` and `hypothesis_reader`, each a left-to-right
    `LSTMN`, and `attention_premise` (A, H), `attention_hypothesis` (A, H), `attention_vector`
    (A), `output_premise` (H, H) and `output_hypothesis` (H, H): the report's W^y, W^h, w, W^p and
    W^x.

    # Parameters

    input_size : `int`
        D, the size of a token's vector.
    hidden_size : `int`
        H, the size of both readers' hidden states and of the pair's vector.
    attention_size : `int`, optional (default = `hidden_size`)
        A, the size of the layer that scores tokens, both in the readers and between them.
    start_from_premise : `bool`, optional (default = `False`)
        Whether the premise's last h and c are the hypothesis reader's h~ and c~ at the first token,
        when its own tapes are empty.

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

    def extra_repr(self) -> str:
        """The settings, in the constructor's order."""
        return (
            f"{self.input_size}, {self.hidden_size}, attention_size={self.attention_size}, "
            f"start_from_premise={self.start_from_premise}"
        )

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

        `Union[torch.Tensor, Tuple[torch.Tensor, PairAttention]]`
            h*, shape (batch_size, output_size); an empty sentence contributes zero. With
            `return_attention`, a pair of it and the attention. Of the latter, `premise`
            (batch_size, premise_length, premise_length) and `hypothesis`
            (batch_size, hypothesis_length, hypothesis_length) are those of the readers, and `inter`
            (batch_size, premise_length) is alpha, zero at padding.
        """
        premise_tapes = self.premise_reader.read(premise, premise_mask)
        last = _last(premise_tapes.hidden, premise_mask), _last(premise_tapes.cell, premise_mask)
        hypothesis_tapes = self.hypothesis_reader.read(
            hypothesis, hypothesis_mask, last if self.start_from_premise else None
        )
        query = _last(hypothesis_tapes.hidden, hypothesis_mask)  # h_N, (B, H)
        encoding, weights = self._attend(premise_tapes.hidden, premise_mask, query)
        if not return_attention:
            return encoding
        assert isinstance(premise_tapes.attention, torch.Tensor)  # of one direction
        assert isinstance(hypothesis_tapes.attention, torch.Tensor)
        return encoding, PairAttention(premise_tapes.attention, hypothesis_tapes.attention, weights)

    def _attend(
        self, tape: torch.Tensor, mask: torch.Tensor, query: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return h* (B, H) and alpha (B, T) given Y (B, T, H) and h_N (B, H)."""
        hidden_layer = torch.tanh(
            F.linear(tape, self.attention_premise)
            + F.linear(query, self.attention_hypothesis).unsqueeze(1)
        )  # (B, T, A)
        scores = (hidden_layer @ self.attention_vector).to(tape.dtype)  # (B, T)
        weights = masked_softmax(scores, mask)  # zero for an empty premise, else sums to one
        summary = (weights.unsqueeze(2) * tape).sum(1)  # (B, H)
        encoding = torch.tanh(
            F.linear(summary, self.output_premise) + F.linear(query, self.output_hypothesis)
        )
        return encoding.to(tape.dtype), weights


def _last(tape: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return each sentence's last state, (B, H), of a tape (B, T, H); zero if it is empty."""
    index = torch.arange(mask.size(1), device=mask.device)
    is_last = index == mask.sum(1, keepdim=True) - 1  # (B, T)
    return (tape * is_last.unsqueeze(2)).sum(1)
