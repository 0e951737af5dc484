"""Two LSTMNs with inter-attention, as configurations state them."""

from typing import Optional

from allennlp.common import FromParams

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.nn.lstmn_inter_attention import LSTMNInterAttention


class LstmnPairEncoder(FromParams):
    """Holds the `allennlp_sentmatch.nn.LSTMNInterAttention` that a configuration states.

    A model takes a `Lazy[LstmnPairEncoder]`, fills in `input_size`, and keeps the `module`.

    # Parameters

    input_size : `int`
        The size of a token's vector.
    hidden_size : `int`
        The size of both readers' hidden states and of the pair's vector.
    attention_size : `int`, optional (default = `None`)
        The size of the attention's hidden layers. `None`: `hidden_size`.
    start_from_premise : `bool`, optional (default = `False`)
        Whether the hypothesis's reader starts from the premise's final state.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        attention_size: Optional[int] = None,
        start_from_premise: bool = False,
    ) -> None:
        with configuration_errors():
            self.module = LSTMNInterAttention(
                input_size, hidden_size, attention_size, start_from_premise
            )
