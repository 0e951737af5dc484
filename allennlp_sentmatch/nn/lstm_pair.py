r"""Two LSTMs, the second of which continues where the first one ended.

Ersü, "Long Short-Term Memory-Networks for Machine Reading", sections 3 and 4.2: the encoder-decoder
without attention, "LSTM" in table 2. Each LSTM has its own weights and computes, at token t,

    f_t = sigmoid(W_f [h_{t-1}, x_t] + b_f)    (1)
    i_t = sigmoid(W_i [h_{t-1}, x_t] + b_i)    (2)
    C^_t = tanh(W_C [h_{t-1}, x_t] + b_C)      (3)
    C_t = f_t * C_{t-1} + i_t * C^_t           (4)
    o_t = sigmoid(W_o [h_{t-1}, x_t] + b_o)    (5)
    h_t = o_t * tanh(C_t)                      (6)

The first one starts from zeros. Its h and C at the premise's last token are h_0 and C_0 of the
second one, whose h at the hypothesis's last token is the pair's vector.
"""

import torch

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.padding import check_padded
from allennlp_sentmatch.nn.pair_reader import PairAttention, PairReader, last_state
from allennlp_sentmatch.nn.recurrent_networks import lstm_final_states


class LSTMPair(PairReader):
    """Two LSTMs that read the premise and then the hypothesis (the module's docstring).

    They are `premise_reader` and `hypothesis_reader`, each a left-to-right `torch.nn.LSTM`,
    without attention.

    # Parameters

    input_size : `int`
        D, the size of a token's vector.
    hidden_size : `int`
        H, the size of both LSTMs' states and of the pair's vector.

    # Raises

    `ValueError`
        If a size is not positive.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        check_positive(input_size=input_size, hidden_size=hidden_size)
        super().__init__(input_size, hidden_size)
        self.premise_reader = torch.nn.LSTM(input_size, hidden_size, batch_first=True)
        self.hypothesis_reader = torch.nn.LSTM(input_size, hidden_size, batch_first=True)

    def read(
        self,
        premise: torch.Tensor,
        premise_mask: torch.Tensor,
        hypothesis: torch.Tensor,
        hypothesis_mask: torch.Tensor,
    ) -> tuple[torch.Tensor, PairAttention]:
        """Return the last hidden states of the second LSTM; see `PairReader.forward`."""
        dtype = next(self.parameters()).dtype
        for inputs, mask in ((premise, premise_mask), (hypothesis, hypothesis_mask)):
            check_padded(inputs, mask, self.input_size, dtype)
        _, *last = lstm_final_states(self.premise_reader, premise, premise_mask)  # (B, 1, H) each
        outputs, _, _ = lstm_final_states(
            self.hypothesis_reader, hypothesis, hypothesis_mask, (last[0], last[1])
        )
        return last_state(outputs, hypothesis_mask), PairAttention()
