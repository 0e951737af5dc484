r"""Two LSTMNs, the second of which continues where the first one ended.

Ersü, "Long Short-Term Memory-Networks for Machine Reading", sections 3 and 4.2: the encoder-decoder
without attention between the sentences, "LSTMN" in table 2. Each LSTMN has its own weights and
tapes, and computes equations 8-13 of `allennlp_sentmatch.nn.lstmn`. With h^p and c^p the premise's
tapes, of M tokens, the second one starts from

    h~_1 = h^p_M,  c~_1 = c^p_M

in place of zeros, since its own tapes are empty. Its h at the hypothesis's last token, h_N, is the
pair's vector.
"""

from typing import Optional

import torch

from allennlp_sentmatch.nn.lstmn import LSTMN
from allennlp_sentmatch.nn.pair_reader import PairAttention, PairReader, last_state


class LSTMNPair(PairReader):
    """Two LSTMNs that read the premise and then the hypothesis (the module's docstring).

    They are `premise_reader` and `hypothesis_reader`, each a left-to-right `LSTMN`. The attention
    is within the sentences alone.

    # Parameters

    input_size : `int`
        D, the size of a token's vector.
    hidden_size : `int`
        H, the size of both LSTMNs' states and of the pair's vector.
    attention_size : `int`, optional (default = `hidden_size`)
        A, the size of the layer that scores the tokens.

    # Raises

    `ValueError`
        If a size is not positive.
    """

    def __init__(
        self, input_size: int, hidden_size: int, attention_size: Optional[int] = None
    ) -> None:
        super().__init__(input_size, hidden_size)
        self.premise_reader = LSTMN(input_size, hidden_size, attention_size)
        self.hypothesis_reader = LSTMN(input_size, hidden_size, attention_size)
        self.attention_size = self.premise_reader.attention_size

    def read(
        self,
        premise: torch.Tensor,
        premise_mask: torch.Tensor,
        hypothesis: torch.Tensor,
        hypothesis_mask: torch.Tensor,
    ) -> tuple[torch.Tensor, PairAttention]:
        """Return h_N and the attention within the sentences; see `PairReader.forward`."""
        _, tape, attention = self.read_tapes(premise, premise_mask, hypothesis, hypothesis_mask)
        return last_state(tape, hypothesis_mask), attention

    def read_tapes(
        self,
        premise: torch.Tensor,
        premise_mask: torch.Tensor,
        hypothesis: torch.Tensor,
        hypothesis_mask: torch.Tensor,
        start_from_premise: bool = True,
    ) -> tuple[torch.Tensor, torch.Tensor, PairAttention]:
        """Compute the hidden tapes of both sentences.

        # Parameters

        premise, premise_mask, hypothesis, hypothesis_mask : `torch.Tensor`
            As in `PairReader.forward`.
        start_from_premise : `bool`, optional (default = `True`)
            Whether the premise's last h and c are the hypothesis's h~ and c~ at the first token.
            Otherwise these are zero.

        # Returns

        `tuple[torch.Tensor, torch.Tensor, PairAttention]`
            The tapes of the premise, (batch_size, premise_length, hidden_size), and of the
            hypothesis, (batch_size, hypothesis_length, hidden_size), zero at padding; and the
            attention within the sentences.
        """
        of_premise = self.premise_reader.read(premise, premise_mask)
        last = (
            last_state(of_premise.hidden, premise_mask),
            last_state(of_premise.cell, premise_mask),
        )
        of_hypothesis = self.hypothesis_reader.read(
            hypothesis, hypothesis_mask, last if start_from_premise else None
        )
        assert isinstance(of_premise.attention, torch.Tensor)  # of one direction
        assert isinstance(of_hypothesis.attention, torch.Tensor)
        attention = PairAttention(of_premise.attention, of_hypothesis.attention)
        return of_premise.hidden, of_hypothesis.hidden, attention
