"""The suffix bidirectional LSTM as a `Seq2SeqEncoder`."""

from typing import Literal, Optional

from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.seq2seq_encoders.module_encoder import ModuleEncoder
from allennlp_sentmatch.nn import SuffixBiLSTM


@Seq2SeqEncoder.register("subilstm")
class SubilstmEncoder(ModuleEncoder):
    """The suffix bidirectional LSTM of [Brahma (2019)](https://arxiv.org/abs/1805.07340), which
    encodes the prefix and the suffix of every token in both directions:
    `allennlp_sentmatch.nn.SuffixBiLSTM`.

    Registered as a `Seq2SeqEncoder` with name "subilstm".

    # Parameters

    input_size : `int`, required.
    hidden_size : `int`, required.
        The size of one encoding. The output is `2 * hidden_size` wide, `4 * hidden_size` with
        `combination = "concat"`; its first half is the forward direction.
    tied : `bool`, optional (default = `True`).
        Whether one network encodes both the prefixes and the suffixes of a direction.
    combination : `str`, optional (default = `"max"`).
        How the encodings of prefix and suffix become one: `"max"`, `"mean"`, `"concat"` or
        `"gate"`.
    cell : `str`, optional (default = `"lstm"`).
        `"lstm"` or `"gru"`.
    max_context : `Optional[int]`, optional (default = `None`).
        Encode only prefixes and suffixes of at most this many tokens.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        tied: bool = True,
        combination: Literal["max", "mean", "concat", "gate"] = "max",
        cell: Literal["lstm", "gru"] = "lstm",
        max_context: Optional[int] = None,
    ) -> None:
        with configuration_errors():
            module = SuffixBiLSTM(
                input_size,
                hidden_size,
                tied=tied,
                combination=combination,
                cell=cell,
                max_context=max_context,
            )
        super().__init__(module)
