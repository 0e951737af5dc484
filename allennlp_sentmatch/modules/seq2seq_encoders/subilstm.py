"""The suffix bidirectional LSTM as a `Seq2SeqEncoder`."""

from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.configuration_errors import constructs
from allennlp_sentmatch.modules.seq2seq_encoders.module_encoder import ModuleEncoder
from allennlp_sentmatch.nn import SuffixBiLSTM


@Seq2SeqEncoder.register("subilstm")
class SubilstmEncoder(ModuleEncoder):
    """The suffix bidirectional LSTM of [Brahma (2018)](https://arxiv.org/abs/1805.07340), which
    encodes the prefix and the suffix of every token in both directions.

    The output is `2 * hidden_size` wide, `4 * hidden_size` with `combination = "concat"`; its first
    half is the forward direction.

    Registered as a `Seq2SeqEncoder` with name "subilstm". The parameters are those of
    `allennlp_sentmatch.nn.SuffixBiLSTM`.
    """

    @constructs(SuffixBiLSTM)
    def __init__(self, module: SuffixBiLSTM) -> None:
        super().__init__(module)
