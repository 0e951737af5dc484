"""Stacked LSTMs or GRUs as a `Seq2SeqEncoder`."""

from typing import Literal

from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.seq2seq_encoders.module_encoder import ModuleEncoder
from allennlp_sentmatch.nn import StackedRNN


@Seq2SeqEncoder.register("stacked_rnn")
class StackedRnnEncoder(ModuleEncoder):
    """torch's stacked LSTMs or GRUs: `allennlp_sentmatch.nn.StackedRNN`. The same as AllenNLP's
    `lstm` and `gru`, but on CPUs faster in training where sentences differ in length: about 1.5
    times for sentences, up to 9 times for passages of 200 tokens.

    Registered as a `Seq2SeqEncoder` with name "stacked_rnn".

    # Parameters

    input_size : `int`, required.
    hidden_size : `int`, required.
        The size of one direction of a layer.
    cell : `str`, optional (default = `"lstm"`).
        `"lstm"` or `"gru"`.
    num_layers : `int`, optional (default = `1`).
    bidirectional : `bool`, optional (default = `False`).
        Whether each layer reads the sentence in both directions; the output is then
        `2 * hidden_size` wide.
    dropout : `float`, optional (default = `0.0`).
        The dropout probability between layers.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        cell: Literal["lstm", "gru"] = "lstm",
        num_layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
    ) -> None:
        with configuration_errors():
            module = StackedRNN(
                input_size, hidden_size, cell, num_layers, bidirectional, dropout=dropout
            )
        super().__init__(module)
