"""The cell-aware stacked LSTM as a `Seq2SeqEncoder`."""

from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.configuration_errors import constructs
from allennlp_sentmatch.modules.seq2seq_encoders.module_encoder import ModuleEncoder
from allennlp_sentmatch.nn import CellAwareLSTM


@Seq2SeqEncoder.register("cas_lstm")
class CasLstmEncoder(ModuleEncoder):
    """The cell-aware stacked LSTM of [Choi et al. (2019)](https://arxiv.org/abs/1809.02279), in
    which a layer also reads the memory cells of the layer below.

    Registered as a `Seq2SeqEncoder` with name "cas_lstm". The parameters are those of
    `allennlp_sentmatch.nn.CellAwareLSTM`.
    """

    @constructs(CellAwareLSTM)
    def __init__(self, module: CellAwareLSTM) -> None:
        super().__init__(module)
