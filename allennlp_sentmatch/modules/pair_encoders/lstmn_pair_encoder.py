"""Two LSTMNs for a pair, as configurations state them."""

from typing import Optional

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.pair_encoders.pair_encoder import PairEncoder
from allennlp_sentmatch.nn import LSTMNPair


@PairEncoder.register("lstmn")
class LstmnPairEncoder(PairEncoder):
    """Two LSTMNs, the second of which starts from the premise's last states and whose last hidden
    state is the pair's vector: `allennlp_sentmatch.nn.LSTMNPair`.

    Ersü, "Long Short-Term Memory-Networks for Machine Reading", section 4.2: "LSTMN" in table 2.

    Registered as a `PairEncoder` with name "lstmn".

    # Parameters

    input_size : `int`
        The size of a token's vector. Models fill it in.
    hidden_size : `int`
        The size of both LSTMNs' states and of the pair's vector.
    attention_size : `int`, optional (default = `None`)
        The size of the attention's hidden layers. `None`: `hidden_size`.
    """

    def __init__(
        self, input_size: int, hidden_size: int, attention_size: Optional[int] = None
    ) -> None:
        with configuration_errors():
            module = LSTMNPair(input_size, hidden_size, attention_size)
        super().__init__(module)
