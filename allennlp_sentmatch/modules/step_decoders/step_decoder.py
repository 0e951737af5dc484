"""The base class of step decoders."""

import torch
from allennlp.common import Registrable

from allennlp_sentmatch.nn import RecurrentDecoder


class StepDecoder(torch.nn.Module, Registrable):
    """The recurrent layers of a decoder, which read one input after the other.

    # Parameters

    module : `RecurrentDecoder`
        A decoder of `allennlp_sentmatch.nn`, which does the work.
    """

    default_implementation = "lstm"

    def __init__(self, module: RecurrentDecoder) -> None:
        super().__init__()
        self.module = module

    def get_input_dim(self) -> int:
        """The width of a step's input."""
        return self.module.input_size

    def get_output_dim(self) -> int:
        """The width of each layer's states."""
        return self.module.hidden_size

    def get_num_layers(self) -> int:
        """The number of layers."""
        return self.module.num_layers
