"""The interface of a decoder's recurrent layers."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn


class DecoderState(NamedTuple):
    """The states of all layers after a step.

    The batch comes first, so that a beam search can reorder the rows.
    """

    #: Shape (batch_size, num_layers, hidden_size).
    hidden: Tensor
    #: Shape (batch_size, num_layers, hidden_size).
    cell: Tensor


class RecurrentDecoder(nn.Module, ABC):
    """Recurrent layers that read one input after the other.

    # Parameters

    input_size : `int`
        The width of a step's input.
    hidden_size : `int`
        The width of each layer's states.
    num_layers : `int`
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers

    @abstractmethod
    def step(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Take one step.

        # Parameters

        inputs : `Tensor`
            Shape (batch_size, input_size).
        state : `DecoderState`
            The state before the step.

        # Returns

        `tuple[Tensor, DecoderState]`
            The top layer's hidden state, (batch_size, hidden_size), and the state after the step.
        """

    def forward(self, inputs: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Take all steps of a sequence whose inputs are known.

        # Parameters

        inputs : `Tensor`
            Shape (batch_size, num_steps, input_size), of at least one step. Steps that are padding
            come last and are read like the others: ignore their outputs.
        state : `DecoderState`
            The state before the first step.

        # Returns

        `tuple[Tensor, DecoderState]`
            The top layer's hidden states, (batch_size, num_steps, hidden_size), and the state
            after the last step.
        """
        outputs = []
        for step in inputs.unbind(1):  # (B, input_size)
            output, state = self.step(step, state)
            outputs.append(output)
        return torch.stack(outputs, 1), state
