"""From the last states of an encoder to the first states of a decoder."""

from typing import Optional

import torch
from torch import Tensor, nn

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.recurrent_decoder import DecoderState


class StateBridge(nn.Module):
    """Starts a decoder's layers from the encoder's last states, layer by layer, h and c alike.

    Where the sizes agree the states are taken as they are, otherwise they pass through a linear
    layer each. An encoder without states of its own, or with another number of layers, is
    represented by its last output alone, which passes through a linear layer and a tanh for each
    layer's h, and a linear layer for its c.

    # Parameters

    encoder_size : `int`
        The width of the encoder's states, or of its outputs where it has no states to take.
    decoder_size : `int`
        The width of the decoder's states (H).
    num_layers : `int`
        The number of the decoder's layers (L).
    has_states : `bool`
        Whether the encoder gives a state for each of the decoder's layers.

    # Raises

    `ValueError`
        If a size is less than 1.
    """

    def __init__(
        self, encoder_size: int, decoder_size: int, num_layers: int, has_states: bool
    ) -> None:
        super().__init__()
        check_positive(encoder_size=encoder_size, decoder_size=decoder_size, num_layers=num_layers)
        self.num_layers = num_layers
        self.has_states = has_states
        self.is_identity = has_states and encoder_size == decoder_size
        number = 0 if self.is_identity else num_layers
        self.hidden = nn.ModuleList(nn.Linear(encoder_size, decoder_size) for _ in range(number))
        self.cell = nn.ModuleList(nn.Linear(encoder_size, decoder_size) for _ in range(number))

    def forward(
        self, last_output: Tensor, states: Optional[tuple[Tensor, Tensor]] = None
    ) -> DecoderState:
        """The decoder's first states.

        # Parameters

        last_output : `Tensor`
            Shape (batch_size, encoder_size); read only where the encoder has no states.
        states : `tuple[Tensor, Tensor]`, optional
            h and c of each layer, each (batch_size, num_layers, encoder_size); required where the
            encoder has states.

        # Returns

        `DecoderState`
        """
        if not self.has_states:
            return DecoderState(
                torch.stack([torch.tanh(linear(last_output)) for linear in self.hidden], 1),
                torch.stack([linear(last_output) for linear in self.cell], 1),
            )
        if states is None:
            raise ValueError(
                "states are missing, which a bridge with has_states=True needs; pass the encoder's "
                "last states, or build the bridge with has_states=False to start from last_output"
            )
        if self.is_identity:
            return DecoderState(*states)
        hidden, cell = (
            torch.stack([linear(state[:, k]) for k, linear in enumerate(linears)], 1)
            for state, linears in zip(states, (self.hidden, self.cell))
        )
        return DecoderState(hidden, cell)
