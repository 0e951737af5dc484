"""Encoders of pairs of sentences, with one vector for both, as configurations state them.

They are the networks of table 2 of Ersü, "Long Short-Term Memory-Networks for Machine Reading".
"""

from allennlp.common import Registrable

from allennlp_sentmatch import nn
from allennlp_sentmatch.modules.configuration_errors import constructs


class PairEncoder(Registrable):
    """Holds the `PairReader` that a configuration states.

    A model takes a `Lazy[PairEncoder]`, fills in `input_size`, and keeps the `module`.
    """

    default_implementation = "lstmn_inter_attention"

    def __init__(self, module: nn.PairReader) -> None:
        self.module = module


@PairEncoder.register("lstm")
class LstmPairEncoder(PairEncoder):
    """Two LSTMs: the second one starts from the last states of the first, and its last hidden state
    is the pair's vector. "LSTM" in table 2 (section 4.2).

    Takes the settings of `allennlp_sentmatch.nn.LSTMPair`.
    """

    __init__ = constructs(nn.LSTMPair)(PairEncoder.__init__)


@PairEncoder.register("lstmn")
class LstmnPairEncoder(PairEncoder):
    """Two LSTMNs, connected in the same way: "LSTMN" in table 2 (section 4.2).

    Takes the settings of `allennlp_sentmatch.nn.LSTMNPair`.
    """

    __init__ = constructs(nn.LSTMNPair)(PairEncoder.__init__)


@PairEncoder.register("lstmn_inter_attention")
class LstmnInterAttentionEncoder(PairEncoder):
    """Two LSTMNs and the attention of the hypothesis to the premise (section 3): "LSTMN with
    inter-attention" in table 2, where the second one starts from the first one's last states.

    This is the default. Takes the settings of `allennlp_sentmatch.nn.LSTMNInterAttention`.
    """

    __init__ = constructs(nn.LSTMNInterAttention)(PairEncoder.__init__)
