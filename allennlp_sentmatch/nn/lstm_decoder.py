r"""A stack of LSTM layers that decodes step by step.

With x_j the input of step j, h and c a layer's own states and h' the layer below (h' = x_j in
layer 0), each layer computes, as `torch.nn.LSTM` does,

    i_j = sigmoid(W_i h'_j + U_i h_{j-1} + b_i),   f_j, o_j likewise
    g_j = tanh(W_g h'_j + U_g h_{j-1} + b_g)
    c_j = i_j * g_j + f_j * c_{j-1}
    h_j = o_j * tanh(c_j)

with dropout on h' between two layers.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allennlp_sentmatch.nn.checks import check_fraction, check_positive
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter, without_autocast
from allennlp_sentmatch.nn.recurrent_decoder import DecoderState, RecurrentDecoder


class LSTMDecoder(RecurrentDecoder):
    """Reads one input after the other with a stack of LSTM layers.

    # Parameters

    input_size : `int`
        The width of a step's input.
    hidden_size : `int`
        The width of each layer's states.
    num_layers : `int`, optional (default = `2`)
    dropout : `float`, optional (default = `0.0`)
        The dropout probability of the hidden states between two layers. With one layer it has no
        effect, and torch warns.

    # Raises

    `ValueError`
        If a size is below 1 or the dropout is out of its range.
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 2, dropout: float = 0.0
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers)
        check_positive(input_size=input_size, hidden_size=hidden_size, num_layers=num_layers)
        check_fraction(dropout=dropout)
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, dropout=dropout, batch_first=True)

    def step(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Take one step; see `RecurrentDecoder`."""
        inputs = cast_to_parameter(inputs, next(self.lstm.parameters()))
        last_hidden, last_cell = (cast_to_parameter(x, inputs) for x in state)  # (B, L, H) each
        hiddens, cells = [], []
        with without_autocast(inputs.device):
            for layer in range(self.num_layers):
                if layer > 0:
                    inputs = F.dropout(inputs, self.lstm.dropout, self.training)
                weights = (
                    getattr(self.lstm, f"{name}_l{layer}")
                    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
                )
                # A single step of torch.nn.LSTM takes 1.7 times as long as this function.
                states = (last_hidden[:, layer], last_cell[:, layer])
                inputs, cell = torch.lstm_cell(inputs, states, *weights)  # (B, H) each
                hiddens.append(inputs)
                cells.append(cell)
        return inputs, DecoderState(torch.stack(hiddens, 1), torch.stack(cells, 1))

    def forward(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Take all steps of a known sequence in one call; see `RecurrentDecoder`."""
        inputs = cast_to_parameter(inputs, next(self.lstm.parameters()))
        layers_first = tuple(x.transpose(0, 1).contiguous().to(inputs.dtype) for x in state)
        with without_autocast(inputs.device):  # (num_layers, B, H) each
            outputs, (hidden, cell) = self.lstm(inputs, layers_first)
        return outputs, DecoderState(hidden.transpose(0, 1), cell.transpose(0, 1))
