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
from typing import Optional

import torch
from torch.nn import functional as F

from allennlp_sentmatch.nn.lstmn_pair import LSTMNPair
from allennlp_sentmatch.nn.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.pair_reader import PairAttention, last_state


class LSTMNInterAttention(LSTMNPair):
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
        super().__init__(input_size, hidden_size, attention_size)
        self.start_from_premise = start_from_premise

        def parameter(*shape: int) -> torch.nn.Parameter:
            bound = 1 / math.sqrt(hidden_size)
            return torch.nn.Parameter(torch.empty(shape).uniform_(-bound, bound))

        self.attention_premise = parameter(self.attention_size, hidden_size)
        self.attention_hypothesis = parameter(self.attention_size, hidden_size)
        self.attention_vector = parameter(self.attention_size)
        self.output_premise = parameter(hidden_size, hidden_size)
        self.output_hypothesis = parameter(hidden_size, hidden_size)

    def extra_repr(self) -> str:
        """The settings, in the constructor's order."""
        return (
            f"{self.input_size}, {self.hidden_size}, attention_size={self.attention_size}, "
            f"start_from_premise={self.start_from_premise}"
        )

    def read(
        self,
        premise: torch.Tensor,
        premise_mask: torch.Tensor,
        hypothesis: torch.Tensor,
        hypothesis_mask: torch.Tensor,
    ) -> tuple[torch.Tensor, PairAttention]:
        """Return h* and all attention, alpha between the sentences; see `PairReader.forward`."""
        premise_tape, hypothesis_tape, attention = self.read_tapes(
            premise, premise_mask, hypothesis, hypothesis_mask, self.start_from_premise
        )
        query = last_state(hypothesis_tape, hypothesis_mask)  # h_N, (B, H)
        encoding, weights = self._attend(premise_tape, premise_mask, query)
        return encoding, attention._replace(inter=weights)

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
