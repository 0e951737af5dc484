"""Two LSTMs for a pair, as configurations state them."""

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.pair_encoders.pair_encoder import PairEncoder
from allennlp_sentmatch.nn import LSTMPair


@PairEncoder.register("lstm")
class LstmPairEncoder(PairEncoder):
    """Two LSTMs, the second of which starts from the premise's last states and whose last hidden
    state is the pair's vector: `allennlp_sentmatch.nn.LSTMPair`.

    Ersü, "Long Short-Term Memory-Networks for Machine Reading", section 4.2: "LSTM" in table 2.

    Registered as a `PairEncoder` with name "lstm".

    # Parameters

    input_size : `int`
        The size of a token's vector. Models fill it in.
    hidden_size : `int`
        The size of both LSTMs' states and of the pair's vector.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        with configuration_errors():
            module = LSTMPair(input_size, hidden_size)
        super().__init__(module)
