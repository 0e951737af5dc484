"""Recurrent layers for decoders, one input at a time."""

import torch
from allennlp.common import Registrable

from allennlp_sentmatch.modules.configuration_errors import constructs
from allennlp_sentmatch.nn import CellAwareLSTMDecoder, LSTMDecoder, RecurrentDecoder


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


@StepDecoder.register("lstm")
class LstmStepDecoder(StepDecoder):
    """A stack of LSTM layers.

    The parameters are those of `allennlp_sentmatch.nn.LSTMDecoder`; models fill in `input_size`.
    """

    @constructs(LSTMDecoder)
    def __init__(self, module: LSTMDecoder) -> None:
        super().__init__(module)


@StepDecoder.register("cas_lstm")
class CasLstmStepDecoder(StepDecoder):
    """The cell-aware stacked LSTM of [Choi et al. (2019)](https://arxiv.org/abs/1809.02279).

    The parameters are those of `allennlp_sentmatch.nn.CellAwareLSTMDecoder`; models fill in
    `input_size`.
    """

    @constructs(CellAwareLSTMDecoder)
    def __init__(self, module: CellAwareLSTMDecoder) -> None:
        super().__init__(module)
