"""The cell-aware stacked LSTM as a `Seq2SeqEncoder`."""

from typing import Literal, Union

from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.seq2seq_encoders.module_encoder import ModuleEncoder
from allennlp_sentmatch.nn import CellAwareLSTM


@Seq2SeqEncoder.register("cas_lstm")
class CasLstmEncoder(ModuleEncoder):
    """The cell-aware stacked LSTM of [Choi et al. (2019)](https://arxiv.org/abs/1809.02279), in
    which a layer also reads the memory cells of the layer below:
    `allennlp_sentmatch.nn.CellAwareLSTM`.

    Registered as a `Seq2SeqEncoder` with name "cas_lstm".

    # Parameters

    input_size : `int`, required.
    hidden_size : `int`, required.
        The size of the output of one direction.
    num_layers : `int`, optional (default = `2`).
    bidirectional : `bool`, optional (default = `False`).
        Whether a second, independent stack reads the sentence from right to left; the output is
        then `2 * hidden_size` wide.
    vertical_weight : `Union[float, str, None]`, optional (default = `0.5`).
        The paper's lambda, between 0 and 1: the weight of the lower layer's cell, while the left
        one has 1 - lambda. `"trainable"` learns one for each dimension; `None` (`null` in a
        configuration) is the plain sum of the two.
    vertical_gate : `str`, optional (default = `"hidden"`).
        `"hidden"`: the gate of the lower cell reads the hidden states (the paper's equation 9);
        `"peephole"`: it reads the cells (equation 17), and there is no `vertical_weight`.
    dropout : `float`, optional (default = `0.0`).
        Dropout between the layers.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 2,
        bidirectional: bool = False,
        vertical_weight: Union[float, Literal["trainable"], None] = 0.5,
        vertical_gate: Literal["hidden", "peephole"] = "hidden",
        dropout: float = 0.0,
    ) -> None:
        with configuration_errors():
            module = CellAwareLSTM(
                input_size,
                hidden_size,
                num_layers=num_layers,
                bidirectional=bidirectional,
                vertical_weight=vertical_weight,
                vertical_gate=vertical_gate,
                dropout=dropout,
            )
        super().__init__(module)
