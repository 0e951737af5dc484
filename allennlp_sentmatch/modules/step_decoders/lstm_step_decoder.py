"""Stacked LSTM layers as a `StepDecoder`."""

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.step_decoders.step_decoder import StepDecoder
from allennlp_sentmatch.nn import LSTMDecoder


@StepDecoder.register("lstm")
class LstmStepDecoder(StepDecoder):
    """A stack of LSTM layers: `allennlp_sentmatch.nn.LSTMDecoder`.

    Registered as a `StepDecoder` with name "lstm".

    # Parameters

    input_size : `int`
        Filled in by the model.
    hidden_size : `int`
    num_layers : `int`, optional (default = `2`)
    dropout : `float`, optional (default = `0.0`)
        Dropout between the layers.
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 2, dropout: float = 0.0
    ) -> None:
        with configuration_errors():
            module = LSTMDecoder(input_size, hidden_size, num_layers, dropout)
        super().__init__(module)
