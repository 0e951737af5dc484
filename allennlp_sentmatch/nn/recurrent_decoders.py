"""Recurrent decoders: layers that read one input after another, from a given state.

The layers of an `LSTMDecoder` are a `torch.nn.LSTM`. A `CellAwareLSTMDecoder` has the equations of
`allennlp_sentmatch.nn.cas_lstm`, from left to right.
"""

from abc import ABC, abstractmethod
from typing import Literal, NamedTuple, Optional, Union

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from allennlp_sentmatch.nn.cas_lstm import CellAwareLSTM
from allennlp_sentmatch.nn.checks import check_fraction, check_positive
from allennlp_sentmatch.nn.ops.backends import must_be_called
from allennlp_sentmatch.nn.ops.cas_lstm.naive import run_step
from allennlp_sentmatch.nn.ops.common.autocast import (
    cast_to_parameter,
    is_autocast_enabled,
    without_autocast,
)
from allennlp_sentmatch.nn.ops.common.packing import check_states
from allennlp_sentmatch.nn.recurrent_networks import precision_of


class DecoderState(NamedTuple):
    """The states of all layers after a step, (B, num_layers, hidden_size) each.

    The batch comes first, so that a beam search can reorder the rows.
    """

    hidden: Tensor
    cell: Tensor


class RecurrentDecoder(nn.Module, ABC):
    """Recurrent layers that read one input after another.

    `lstm` are the layers, which hold the parameters: an encoder's weights can be loaded into them.
    """

    def __init__(self, lstm: Union[nn.LSTM, CellAwareLSTM]) -> None:
        super().__init__()
        self.input_size = lstm.input_size
        self.hidden_size = lstm.hidden_size
        self.num_layers = lstm.num_layers
        self.lstm = lstm

    def step(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Take one step with the inputs (B, input_size), from the state before it.

        Return the top layer's hidden state (B, hidden_size) and the state after the step.
        """
        if self._must_call_layers:
            outputs, last = self.forward(inputs.unsqueeze(1), state)
            return outputs.squeeze(1), last
        sizes = {
            "batch_size": inputs.size(0),
            "num_layers": self.num_layers,
            "hidden_size": self.hidden_size,
        }
        check_states(state, sizes)
        hidden = cast_to_parameter(inputs, self.lstm.weight_ih_l0)  # type: ignore[arg-type]
        last_hidden, last_cell = (cast_to_parameter(x, hidden) for x in state)  # (B, L, H) each
        cell: Optional[Tensor] = None
        hiddens = []
        cells = []
        with without_autocast(inputs.device):
            for layer in range(self.num_layers):
                if layer > 0:
                    hidden = F.dropout(hidden, self.lstm.dropout, self.training)
                states = (last_hidden[:, layer], last_cell[:, layer])
                hidden, cell = self._run_layer(layer, hidden, states, cell)  # (B, H) each
                hiddens.append(hidden)
                cells.append(cell)
        return hidden, DecoderState(torch.stack(hiddens, 1), torch.stack(cells, 1))

    @property
    def _must_call_layers(self) -> bool:
        """Return whether a step must call `lstm`, whose hooks may compute the parameters."""
        return bool(self.lstm._forward_pre_hooks)

    @abstractmethod
    def _run_layer(
        self,
        layer: int,
        inputs: Tensor,
        states: tuple[Tensor, Tensor],
        lower: Optional[Tensor],
    ) -> tuple[Tensor, Tensor]:
        """Return a layer's h and c after a step, from the `states` before it.

        `inputs` and `lower` are the lower layer's h and c.
        """

    @abstractmethod
    def forward(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Take all steps of a sequence whose inputs (B, T, input_size) are known.

        Padding comes last and is read like all other steps: ignore its outputs. Return the top
        layer's hidden states (B, T, hidden_size) and the state after the last step.
        """


class LSTMDecoder(RecurrentDecoder):
    """Reads one input after another with a stack of LSTM layers.

    The settings are as in `torch.nn.LSTM`, which is its submodule `lstm`.
    """

    lstm: nn.LSTM

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 2,
        dropout: float = 0.0,
    ) -> None:
        check_positive(input_size=input_size, hidden_size=hidden_size, num_layers=num_layers)
        check_fraction(dropout=dropout)
        super().__init__(
            nn.LSTM(input_size, hidden_size, num_layers, dropout=dropout, batch_first=True)
        )

    @property
    def _must_call_layers(self) -> bool:
        return must_be_called(self.lstm)

    def _run_layer(
        self,
        layer: int,
        inputs: Tensor,
        states: tuple[Tensor, Tensor],
        lower: Optional[Tensor],
    ) -> tuple[Tensor, Tensor]:
        # A single step of torch.nn.LSTM takes 1.7 times as long as this function.
        return torch.lstm_cell(inputs, states, *self.lstm.all_weights[layer])

    def forward(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Take all steps of a known sequence in one call; see `RecurrentDecoder`."""
        if inputs.size(1) == 0:  # torch refuses a sequence without steps
            return inputs.new_zeros(len(inputs), 0, self.hidden_size), state
        if is_autocast_enabled(inputs.device.type):
            inputs = inputs.to(precision_of(self.lstm))
        layers_first = tuple(x.transpose(0, 1).contiguous().to(inputs.dtype) for x in state)
        with without_autocast(inputs.device):  # (num_layers, B, H) each
            outputs, (hidden, cell) = self.lstm(inputs, layers_first)
        return outputs, DecoderState(hidden.transpose(0, 1), cell.transpose(0, 1))


class CellAwareLSTMDecoder(RecurrentDecoder):
    """Reads one input after another with a `CellAwareLSTM`, which documents the settings."""

    lstm: CellAwareLSTM

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 2,
        vertical_weight: Union[float, Literal["trainable"], None] = 0.5,
        vertical_gate: Literal["hidden", "peephole"] = "hidden",
        dropout: float = 0.0,
    ) -> None:
        lstm = CellAwareLSTM(
            input_size,
            hidden_size,
            num_layers,
            vertical_weight=vertical_weight,
            vertical_gate=vertical_gate,
            dropout=dropout,
        )
        super().__init__(lstm)

    def _run_layer(
        self,
        layer: int,
        inputs: Tensor,
        states: tuple[Tensor, Tensor],
        lower: Optional[Tensor],
    ) -> tuple[Tensor, Tensor]:
        hidden, gates = run_step(inputs, *states, lower, self.lstm.layer_weights(layer))
        return hidden, gates.cell

    def forward(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Take all steps of a known sequence layer by layer; see `RecurrentDecoder`."""
        outputs, *last = self.lstm(inputs, return_states=True, initial_states=state)
        return outputs, DecoderState(*last)


class StateBridge(nn.Module):
    """Starts a decoder's layers from the encoder's last states, layer by layer, h and c alike.

    If the sizes agree, the states do not change; otherwise, each passes through a linear layer. An
    encoder without its own states, or with another number of layers, is represented only by its
    last output, which passes through a linear layer and a tanh for each layer's h, and a linear
    layer for its c.

    `encoder_size` is the width of the encoder's states, or of its outputs if it has no states to
    take. The decoder's states have the width `decoder_size` in each of `num_layers` layers.
    """

    def __init__(
        self,
        encoder_size: int,
        decoder_size: int,
        num_layers: int,
        has_states: bool,
    ) -> None:
        super().__init__()
        check_positive(encoder_size=encoder_size, decoder_size=decoder_size, num_layers=num_layers)
        self.encoder_size = encoder_size
        self.num_layers = num_layers
        self.has_states = has_states
        self.is_identity = has_states and encoder_size == decoder_size
        number = 0 if self.is_identity else num_layers
        self.hidden = nn.ModuleList(nn.Linear(encoder_size, decoder_size) for _ in range(number))
        self.cell = nn.ModuleList(nn.Linear(encoder_size, decoder_size) for _ in range(number))

    def forward(
        self,
        last_output: Tensor,
        states: Optional[tuple[Tensor, Tensor]] = None,
    ) -> DecoderState:
        """Return the decoder's first states.

        A bridge with `has_states` needs `states`, h and c of each layer, (B, num_layers,
        encoder_size) each. Any other bridge reads `last_output` (B, encoder_size) instead.
        """
        if not self.has_states:
            of_layers = last_output.unsqueeze(1).expand(-1, self.num_layers, -1)
            states = (of_layers, of_layers)
        elif states is None:
            raise ValueError(
                "states are missing, which a bridge with has_states=True needs; pass the encoder's "
                "last states, or build the bridge with has_states=False to start from last_output"
            )
        sizes = {
            "batch_size": states[0].size(0),
            "num_layers": self.num_layers,
            "encoder_size": self.encoder_size,
        }
        check_states(states, sizes)
        if self.is_identity:
            return DecoderState(*states)
        hidden = _map_layers(self.hidden, states[0])
        if not self.has_states:
            hidden = torch.tanh(hidden)
        return DecoderState(hidden, _map_layers(self.cell, states[1]))


def _map_layers(linears: nn.ModuleList, states: Tensor) -> Tensor:
    """Map the states of each layer by its own linear layer, (B, L, E) -> (B, L, H)."""
    mapped = [linear(states[:, layer]) for layer, linear in enumerate(linears)]
    return torch.stack(mapped, 1)
