"""Two LSTMNs with inter-attention, as configurations state them."""

from typing import Optional

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.pair_encoders.pair_encoder import PairEncoder
from allennlp_sentmatch.nn import LSTMNInterAttention


@PairEncoder.register("lstmn_inter_attention")
class LstmnInterAttentionEncoder(PairEncoder):
    """Two LSTMNs and the attention of the hypothesis to the premise:
    `allennlp_sentmatch.nn.LSTMNInterAttention`.

    Ersü, "Long Short-Term Memory-Networks for Machine Reading", section 3: "LSTMN with
    inter-attention" in table 2, where the hypothesis's LSTMN starts from the premise's last states
    (section 4.2).

    Registered as a `PairEncoder` with name "lstmn_inter_attention", which is the default.

    # Parameters

    input_size : `int`
        The size of a token's vector. Models fill it in.
    hidden_size : `int`
        The size of both LSTMNs' states and of the pair's vector.
    attention_size : `int`, optional (default = `None`)
        The size of the attention's hidden layers. `None`: `hidden_size`.
    start_from_premise : `bool`, optional (default = `False`)
        Whether the hypothesis's LSTMN starts from the premise's last states.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        attention_size: Optional[int] = None,
        start_from_premise: bool = False,
    ) -> None:
        with configuration_errors():
            module = LSTMNInterAttention(
                input_size, hidden_size, attention_size, start_from_premise
            )
        super().__init__(module)
