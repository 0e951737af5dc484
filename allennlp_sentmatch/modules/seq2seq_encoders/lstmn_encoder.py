"""The long short-term memory-network as a `Seq2SeqEncoder`."""

from typing import Optional

from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.seq2seq_encoders.module_encoder import ModuleEncoder
from allennlp_sentmatch.nn import LSTMN


@Seq2SeqEncoder.register("lstmn")
class LstmnEncoder(ModuleEncoder):
    """The long short-term memory-network of [Cheng et al. (2016)](https://arxiv.org/abs/1601.06733),
    which attends over its own hidden states and cells at every token:
    `allennlp_sentmatch.nn.LSTMN`. Its `module` also returns the attention weights.

    Registered as a `Seq2SeqEncoder` with name "lstmn".

    # Parameters

    input_size : `int`, required.
    hidden_size : `int`, required.
        The size of the output of one direction.
    attention_size : `Optional[int]`, optional (default = `None`).
        The size of the attention's hidden layer. `None`: `hidden_size`.
    bidirectional : `bool`, optional (default = `False`).
        Whether a second network reads the sentence from right to left; the output is then
        `2 * hidden_size` wide.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        attention_size: Optional[int] = None,
        bidirectional: bool = False,
    ) -> None:
        with configuration_errors():
            module = LSTMN(
                input_size,
                hidden_size,
                attention_size=attention_size,
                bidirectional=bidirectional,
            )
        super().__init__(module)
