"""The cell-aware stacked LSTM, decoding step by step.

The equations are those of `allennlp_sentmatch.nn.cas_lstm`, from left to right, from a given
state: layer 0 is an LSTM, and each further layer also reads the cell of the layer below.
"""

from typing import Literal, Optional, Union

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.cas_lstm import CellAwareLSTM
from allennlp_sentmatch.nn.ops.cas_lstm.naive import run_step
from allennlp_sentmatch.nn.ops.cas_lstm.recurrence import lstm_last_states
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter, without_autocast
from allennlp_sentmatch.nn.recurrent_decoder import DecoderState, RecurrentDecoder


class CellAwareLSTMDecoder(RecurrentDecoder):
    """Reads one input after the other with a cell-aware stacked LSTM.

    `lstm`, a `CellAwareLSTM`, holds the parameters: an encoder's weights can be loaded into it.

    # Parameters

    input_size : `int`
        The width of a step's input.
    hidden_size : `int`
        The width of each layer's states.
    num_layers : `int`, optional (default = `2`)
    vertical_weight : `Union[float, str]`, optional (default = `0.5`)
    vertical_gate : `str`, optional (default = `"hidden"`)
    dropout : `float`, optional (default = `0.0`)
        The dropout probability of the hidden states between two layers. The cells have none.

    # Raises

    `ValueError`
        If a setting is out of its range; see `CellAwareLSTM`.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 2,
        vertical_weight: Union[float, Literal["trainable"], None] = 0.5,
        vertical_gate: Literal["hidden", "peephole"] = "hidden",
        dropout: float = 0.0,
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers)
        self.lstm = CellAwareLSTM(
            input_size,
            hidden_size,
            num_layers,
            vertical_weight=vertical_weight,
            vertical_gate=vertical_gate,
            dropout=dropout,
        )

    def step(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Take one step; see `RecurrentDecoder`."""
        layers = [self.lstm.layer_weights(layer) for layer in range(self.num_layers)]
        hidden = cast_to_parameter(inputs, layers[0].weight_ih)
        last_hidden, last_cell = (cast_to_parameter(x, hidden) for x in state)  # (B, L, H) each
        lower: Optional[Tensor] = None
        hiddens, cells = [], []
        with without_autocast(inputs.device):
            for layer, weights in enumerate(layers):
                if layer > 0:
                    hidden = F.dropout(hidden, self.lstm.dropout, self.training)
                states = (last_hidden[:, layer], last_cell[:, layer])
                hidden, gates = run_step(hidden, *states, lower, weights)  # (B, H)
                lower = gates.cell
                hiddens.append(hidden)
                cells.append(lower)
        return hidden, DecoderState(torch.stack(hiddens, 1), torch.stack(cells, 1))

    def forward(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Take all steps of a known sequence layer by layer; see `RecurrentDecoder`."""
        layers = [[self.lstm.layer_weights(layer)] for layer in range(self.num_layers)]
        hidden, cell = (cast_to_parameter(x, layers[0][0].weight_ih) for x in state)
        outputs, *last = lstm_last_states(
            inputs, None, layers, self.lstm.dropout, self.training, (hidden, cell)
        )
        return outputs, DecoderState(*last)
