"""Recurrent layers for decoders, as configurations state them."""

from allennlp.common import Registrable

from allennlp_sentmatch import nn
from allennlp_sentmatch.modules.configuration_errors import constructs


class StepDecoder(Registrable):
    """Holds the `RecurrentDecoder` that a configuration states.

    A model takes a `Lazy[StepDecoder]`, fills in `input_size`, and keeps the `module`.
    """

    default_implementation = "lstm"

    def __init__(self, module: nn.RecurrentDecoder) -> None:
        self.module = module


@StepDecoder.register("lstm")
class LstmStepDecoder(StepDecoder):
    """A stack of LSTM layers.

    Takes the settings of `allennlp_sentmatch.nn.LSTMDecoder`; models fill in `input_size`.
    """

    __init__ = constructs(nn.LSTMDecoder)(StepDecoder.__init__)


@StepDecoder.register("cas_lstm")
class CasLstmStepDecoder(StepDecoder):
    """The cell-aware stacked LSTM of [Choi et al. (2019)](https://arxiv.org/abs/1809.02279).

    Takes the settings of `allennlp_sentmatch.nn.CellAwareLSTMDecoder`; models fill in
    `input_size`.
    """

    __init__ = constructs(nn.CellAwareLSTMDecoder)(StepDecoder.__init__)
