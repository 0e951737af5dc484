"""Two LSTMNs with inter-attention, as an AllenNLP component."""

from typing import Optional

from allennlp.common import FromParams

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.nn.lstmn_inter_attention import LSTMNInterAttention


class LstmnPairEncoder(LSTMNInterAttention, FromParams):
    """`allennlp_sentmatch.nn.LSTMNInterAttention` as configurations state it.

    # Parameters

    input_size : `int`
        Models fill it in from their embedder.
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
            super().__init__(input_size, hidden_size, attention_size, start_from_premise)
