r"""Networks that read a pair of sentences as one vector.

Ersü, "Long Short-Term Memory-Networks for Machine Reading", table 2. Two networks, each with its
own weights, read the premise, of M tokens, and the hypothesis, of N tokens. Without attention
between the sentences (section 4.2), the second one starts from the last states h^p_M and c^p_M of
the first, and its last hidden state h_N is the pair's vector:

    LSTMPair     LSTMs (equations 1-6, as in `torch.nn.LSTM`):  h_0 = h^p_M,  c_0 = c^p_M
    LSTMNPair    LSTMNs (8-13, `allennlp_sentmatch.nn.lstmn`):  h~_1 = h^p_M,  c~_1 = c^p_M,
                 in place of zeros, since the second one's own tapes are empty

`LSTMNInterAttention` (section 3), after the model of Rocktäschel et al. 2016 that attends from h_N
alone, not word by word: with Y the premise's hidden tape,

    s = w^T tanh(W^y Y + W^h h_N)         (14)
    alpha = softmax(s)                    (15)
    r = Y alpha^T                         (16)
    h* = tanh(W^p r + W^x h_N)            (17)
"""

from abc import ABC, abstractmethod
from typing import NamedTuple, Optional, Union

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.configured_module import ConfiguredModule, uniform_parameter
from allennlp_sentmatch.nn.lstmn import LSTMN
from allennlp_sentmatch.nn.ops.common.packing import last_states
from allennlp_sentmatch.nn.padding import check_padded, mask_of
from allennlp_sentmatch.nn.pooling import additive_attention
from allennlp_sentmatch.nn.recurrent_networks import lstm_final_states, precision_of

#: Sentences (B, T, D) and their mask (B, T).
Padded = tuple[Tensor, Tensor]


class PairAttention(NamedTuple):
    """The attention of a `PairReader`; `None` if it has none."""

    #: (B, M, M) and (B, N, N): within each sentence, by its network, a row for each token.
    premise: Optional[Tensor] = None
    hypothesis: Optional[Tensor] = None
    #: (B, M): from the hypothesis to the premise, zero at padding.
    inter: Optional[Tensor] = None


class PairReader(ConfiguredModule, ABC):
    """Two networks, the first for the premise and the second for the hypothesis.

    # Parameters

    input_size : `int`
        D, the size of a token's vector.
    hidden_size : `int`
        H, the size of both networks' states and of the pair's vector.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size

    @property
    def output_size(self) -> int:
        """Return the size of the pair's vector."""
        return self.hidden_size

    def forward(
        self,
        premise: Tensor,
        premise_mask: Optional[Tensor],
        hypothesis: Tensor,
        hypothesis_mask: Optional[Tensor],
        return_attention: bool = False,
    ) -> Union[Tensor, tuple[Tensor, PairAttention]]:
        """Encode a batch of premises (B, M, D) and hypotheses (B, N, D) with their masks.

        Return the pairs' vectors (B, H), and with `return_attention` also the attention. The state
        of an empty sentence is zero.
        """
        first = (premise, mask_of(premise, premise_mask))
        second = (hypothesis, mask_of(hypothesis, hypothesis_mask))
        encoding, attention = self.read(first, second)
        return (encoding, attention) if return_attention else encoding

    @abstractmethod
    def read(self, premise: Padded, hypothesis: Padded) -> tuple[Tensor, PairAttention]:
        """Return the result of `forward` with `return_attention`."""


class LSTMPair(PairReader):
    """Two LSTMs that read the premise and then the hypothesis (the module's docstring).

    They are `premise_reader` and `hypothesis_reader`, each a left-to-right `torch.nn.LSTM`,
    without attention. `PairReader` documents the settings.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        check_positive(input_size=input_size, hidden_size=hidden_size)
        super().__init__(input_size, hidden_size)
        self.premise_reader = torch.nn.LSTM(input_size, hidden_size, batch_first=True)
        self.hypothesis_reader = torch.nn.LSTM(input_size, hidden_size, batch_first=True)

    def read(self, premise: Padded, hypothesis: Padded) -> tuple[Tensor, PairAttention]:
        """Return the last hidden states of the second LSTM; see `PairReader.forward`."""
        for sentences in (premise, hypothesis):
            check_padded(*sentences, self.input_size, precision_of(self.premise_reader))
        _, hidden, cell = lstm_final_states(self.premise_reader, *premise)  # (B, 1, H) each
        outputs, _, _ = lstm_final_states(self.hypothesis_reader, *hypothesis, (hidden, cell))
        return last_states(outputs, hypothesis[1]), PairAttention()


class LSTMNPair(PairReader):
    """Two LSTMNs that read the premise and then the hypothesis (the module's docstring).

    They are `premise_reader` and `hypothesis_reader`, each a left-to-right `LSTMN`. The attention
    is only within the sentences. `attention_size`, by default `hidden_size`, is A, the size of the
    layer that scores the tokens; `PairReader` documents the other settings.
    """

    start_from_premise = True

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        attention_size: Optional[int] = None,
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.premise_reader = LSTMN(input_size, hidden_size, attention_size)
        self.hypothesis_reader = LSTMN(input_size, hidden_size, attention_size)
        self.attention_size = self.premise_reader.attention_size

    def read(self, premise: Padded, hypothesis: Padded) -> tuple[Tensor, PairAttention]:
        """Return the pair's vector and all attention; see `PairReader.forward`."""
        first = self.premise_reader.read(*premise)
        _, premise_mask = premise
        start = None
        if self.start_from_premise:
            hidden = last_states(first.hidden, premise_mask)  # h^p_M, (B, H)
            start = (hidden, last_states(first.cell, premise_mask))
        second = self.hypothesis_reader.read(*hypothesis, start)
        query = last_states(second.hidden, hypothesis[1])  # h_N, (B, H)
        encoding, inter = self._attend(first.hidden, premise_mask, query)
        within = (first.attention, second.attention)
        return encoding, PairAttention(*within, inter)  # type: ignore[arg-type]  # one direction

    def _attend(
        self,
        tape: Tensor,
        mask: Tensor,
        query: Tensor,
    ) -> tuple[Tensor, Optional[Tensor]]:
        """Return the pair's vector (B, H) and alpha (B, M), from Y (B, M, H) and h_N (B, H)."""
        return query, None


class LSTMNInterAttention(LSTMNPair):
    """Two LSTMNs with inter-attention (equations 14-17 of the module's docstring).

    In addition to `LSTMNPair`, it has the parameters `attention_premise` (A, H),
    `attention_hypothesis` (A, H), `attention_vector` (A), `output_premise` (H, H) and
    `output_hypothesis` (H, H): the report's W^y, W^h, w, W^p and W^x.

    # Parameters

    input_size, hidden_size : as in `PairReader`
    attention_size : `int`, optional (default = `hidden_size`)
        A, the size of the layer that scores tokens, both in the readers and between them.
    start_from_premise : `bool`, optional (default = `False`)
        Whether the premise's last h and c are the hypothesis reader's h~ and c~ at its first token.
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
        self.attention_premise = uniform_parameter(self.attention_size, hidden_size)
        self.attention_hypothesis = uniform_parameter(self.attention_size, hidden_size)
        self.attention_vector = uniform_parameter(self.attention_size, bound=hidden_size**-0.5)
        self.output_premise = uniform_parameter(hidden_size, hidden_size)
        self.output_hypothesis = uniform_parameter(hidden_size, hidden_size)

    def _attend(
        self,
        tape: Tensor,
        mask: Tensor,
        query: Tensor,
    ) -> tuple[Tensor, Tensor]:
        keys = F.linear(tape, self.attention_premise)  # (B, M, A)
        keys = keys + F.linear(query, self.attention_hypothesis).unsqueeze(1)
        summary, weights = additive_attention(keys, self.attention_vector, tape, mask)  # (B, H)
        from_premise = F.linear(summary, self.output_premise)
        from_hypothesis = F.linear(query, self.output_hypothesis)
        encoding = torch.tanh(from_premise + from_hypothesis)
        return encoding.to(tape.dtype), weights
