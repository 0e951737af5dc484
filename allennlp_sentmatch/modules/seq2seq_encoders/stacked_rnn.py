"""Stacked LSTMs or GRUs as a `Seq2SeqEncoder`."""

from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.configuration_errors import constructs
from allennlp_sentmatch.modules.seq2seq_encoders.module_encoder import ModuleEncoder
from allennlp_sentmatch.nn import StackedRNN


@Seq2SeqEncoder.register("stacked_rnn")
class StackedRnnEncoder(ModuleEncoder):
    """torch's stacked LSTMs or GRUs: AllenNLP's `lstm` and `gru`, but faster in training on CPUs
    where sentences differ in length.

    Registered as a `Seq2SeqEncoder` with name "stacked_rnn". The parameters are those of
    `allennlp_sentmatch.nn.StackedRNN`.
    """

    @constructs(StackedRNN)
    def __init__(self, module: StackedRNN) -> None:
        super().__init__(module)
