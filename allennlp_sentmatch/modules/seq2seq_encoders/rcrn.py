"""The recurrently controlled recurrent network as a `Seq2SeqEncoder`."""

from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.configuration_errors import constructs
from allennlp_sentmatch.modules.seq2seq_encoders.module_encoder import ModuleEncoder
from allennlp_sentmatch.nn import RecurrentlyControlledRNN


@Seq2SeqEncoder.register("rcrn")
class RcrnEncoder(ModuleEncoder):
    """The recurrently controlled recurrent network of
    [Tay et al. (2018)](https://arxiv.org/abs/1811.09786), in which two recurrent networks are the
    gates of a third one. If bidirectional, the output is `2 * hidden_size` wide.

    Registered as a `Seq2SeqEncoder` with name "rcrn". The parameters are those of
    `allennlp_sentmatch.nn.RecurrentlyControlledRNN`.
    """

    @constructs(RecurrentlyControlledRNN)
    def __init__(self, module: RecurrentlyControlledRNN) -> None:
        super().__init__(module)
