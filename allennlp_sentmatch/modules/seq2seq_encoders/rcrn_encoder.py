"""The recurrently controlled recurrent network as a `Seq2SeqEncoder`."""

from typing import Literal

from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.seq2seq_encoders.module_encoder import ModuleEncoder
from allennlp_sentmatch.nn import RecurrentlyControlledRNN


@Seq2SeqEncoder.register("rcrn")
class RcrnEncoder(ModuleEncoder):
    """The recurrently controlled recurrent network of
    [Tay et al. (2018)](https://arxiv.org/abs/1811.09786), in which two recurrent networks are the
    gates of a third one: `allennlp_sentmatch.nn.RecurrentlyControlledRNN`.

    Registered as a `Seq2SeqEncoder` with name "rcrn".

    # Parameters

    input_size : `int`, required.
    hidden_size : `int`, required.
        The size of one direction of each of the three networks.
    cell : `str`, optional (default = `"lstm"`).
        `"lstm"` or `"gru"`.
    bidirectional : `bool`, optional (default = `True`).
        Whether the three networks read the sentence in both directions; the output is then
        `2 * hidden_size` wide.
    output_gate : `str`, optional (default = `"sigmoid"`).
        `"sigmoid"`: the output gate is the sigmoid of the second network, as the paper's text has
        it; `"identity"`: that network itself, as equation 16 is printed.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        cell: Literal["lstm", "gru"] = "lstm",
        bidirectional: bool = True,
        output_gate: Literal["sigmoid", "identity"] = "sigmoid",
    ) -> None:
        with configuration_errors():
            module = RecurrentlyControlledRNN(
                input_size,
                hidden_size,
                cell=cell,
                bidirectional=bidirectional,
                output_gate=output_gate,
            )
        super().__init__(module)
