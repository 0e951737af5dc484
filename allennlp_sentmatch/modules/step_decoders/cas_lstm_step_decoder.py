"""The cell-aware stacked LSTM as a `StepDecoder`."""

from typing import Literal, Union

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.step_decoders.step_decoder import StepDecoder
from allennlp_sentmatch.nn import CellAwareLSTMDecoder


@StepDecoder.register("cas_lstm")
class CasLstmStepDecoder(StepDecoder):
    """The cell-aware stacked LSTM of [Choi et al. (2019)](https://arxiv.org/abs/1809.02279):
    `allennlp_sentmatch.nn.CellAwareLSTMDecoder`.

    Registered as a `StepDecoder` with name "cas_lstm".

    # Parameters

    input_size : `int`
        Filled in by the model.
    hidden_size : `int`
    num_layers : `int`, optional (default = `2`)
    vertical_weight : `Union[float, str, None]`, optional (default = `0.5`)
        The paper's lambda, as in the encoder `cas_lstm`.
    vertical_gate : `str`, optional (default = `"hidden"`)
        `"hidden"` or `"peephole"`, as in the encoder `cas_lstm`.
    dropout : `float`, optional (default = `0.0`)
        Dropout between the layers.
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
        with configuration_errors():
            module = CellAwareLSTMDecoder(
                input_size,
                hidden_size,
                num_layers=num_layers,
                vertical_weight=vertical_weight,
                vertical_gate=vertical_gate,
                dropout=dropout,
            )
        super().__init__(module)
