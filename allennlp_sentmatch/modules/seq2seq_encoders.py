"""The `Seq2SeqEncoder`s: five of `allennlp_sentmatch.nn`, `highway` and `sequential`."""

from collections.abc import Sequence
from typing import Any, Optional, Union

import torch
from allennlp.common.checks import ConfigurationError, check_dimensions_match
from allennlp.modules.highway import Highway
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from torch import Tensor

from allennlp_sentmatch import nn
from allennlp_sentmatch.modules.configuration_errors import configuration_errors, constructs
from allennlp_sentmatch.modules.interpretable_encoder import trim_attention
from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.configured_module import SequenceEncoder
from allennlp_sentmatch.nn.padding import check_padded, clear_padding


class SizedEncoder(Seq2SeqEncoder):
    """A `Seq2SeqEncoder` whose sizes and directions are known when it is constructed."""

    def __init__(
        self,
        input_size: int,
        output_size: int,
        bidirectional: bool,
    ) -> None:
        super().__init__()
        self._input_dim = input_size
        self._output_dim = output_size
        self._bidirectional = bidirectional

    def get_input_dim(self) -> int:
        return self._input_dim

    def get_output_dim(self) -> int:
        return self._output_dim

    def is_bidirectional(self) -> bool:
        return self._bidirectional


class ModuleEncoder(SizedEncoder):
    """A `Seq2SeqEncoder` that applies a plain PyTorch module to its inputs and mask. The encoders
    of this package are subclasses that add only their constructors.

    # Parameters

    module : `allennlp_sentmatch.nn.configured_module.SequenceEncoder`
        A `SequenceEncoder`, or another module with its attributes.
    """

    def __init__(self, module: SequenceEncoder) -> None:
        super().__init__(module.input_size, module.output_size, module.bidirectional)
        self.module = module

    def forward(self, inputs: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        """Encode B sentences (B, T, input size) to (B, T, output size), zero at padded steps. The
        `mask` (B, T) is right-padded; by default, there is no padding.
        """
        outputs: Tensor = self.module(inputs, mask)
        return outputs


@Seq2SeqEncoder.register("cas_lstm")
class CasLstmEncoder(ModuleEncoder):
    """The cell-aware stacked LSTM of [Choi et al. (2019)](https://arxiv.org/abs/1809.02279), in
    which a layer also reads the memory cells of the layer below. Takes the settings of
    `allennlp_sentmatch.nn.CellAwareLSTM`.
    """

    __init__ = constructs(nn.CellAwareLSTM)(ModuleEncoder.__init__)


@Seq2SeqEncoder.register("subilstm")
class SubilstmEncoder(ModuleEncoder):
    """The suffix bidirectional LSTM of [Brahma (2018)](https://arxiv.org/abs/1805.07340), which
    encodes the prefix and the suffix of every token in both directions.

    The output is `2 * hidden_size` wide, `4 * hidden_size` with `combination = "concat"`; its first
    half is the forward direction. Takes the settings of `allennlp_sentmatch.nn.SuffixBiLSTM`.
    """

    __init__ = constructs(nn.SuffixBiLSTM)(ModuleEncoder.__init__)


@Seq2SeqEncoder.register("rcrn")
class RcrnEncoder(ModuleEncoder):
    """The recurrently controlled recurrent network of
    [Tay et al. (2018)](https://arxiv.org/abs/1811.09786), in which two recurrent networks are the
    gates of a third one. If bidirectional, the output is `2 * hidden_size` wide. Takes the settings
    of `allennlp_sentmatch.nn.RecurrentlyControlledRNN`.
    """

    __init__ = constructs(nn.RecurrentlyControlledRNN)(ModuleEncoder.__init__)


@Seq2SeqEncoder.register("lstmn")
class LstmnEncoder(ModuleEncoder):
    """The long short-term memory-network of [Cheng et al. (2016)](https://arxiv.org/abs/1601.06733),
    which attends over its own hidden states and cells at every token. An `InterpretableEncoder`,
    whose internals are the attention. Takes the settings of `allennlp_sentmatch.nn.LSTMN`.
    """

    module: nn.LSTMN

    __init__ = constructs(nn.LSTMN)(ModuleEncoder.__init__)

    def forward(  # type: ignore[override]
        self,
        inputs: Tensor,
        mask: Optional[Tensor] = None,
        return_internals: bool = False,
    ) -> Union[Tensor, tuple[Tensor, dict[str, Tensor]]]:
        """Encode a batch of B sentences, as `ModuleEncoder` does; with `return_internals` the
        result is a pair of the outputs and each direction's attention (B, T, T), whose row t is
        over the tokens read before token t.
        """
        if not return_internals:
            return super().forward(inputs, mask)
        outputs, attention = self.module(inputs, mask, return_attention=True)
        directions = attention if isinstance(attention, tuple) else (attention,)
        return outputs, dict(zip(self.internal_names, directions))

    @property
    def internal_names(self) -> tuple[str, ...]:
        """Names of the attention of each direction."""
        if self.is_bidirectional():
            return ("self_attention", "self_attention_reverse")
        return ("self_attention",)

    def describe(self, internals: dict[str, Tensor], tokens: Sequence[str]) -> dict[str, Any]:
        """Return the attention matrices, a row and a column for each token."""
        return {
            name: trim_attention(weights, len(tokens), len(tokens))
            for name, weights in internals.items()
        }


@Seq2SeqEncoder.register("stacked_rnn")
class StackedRnnEncoder(ModuleEncoder):
    """torch's stacked LSTMs or GRUs: AllenNLP's `lstm` and `gru`, but faster in training on CPUs if
    sentences differ in length. Takes the settings of `allennlp_sentmatch.nn.StackedRNN`.
    """

    __init__ = constructs(nn.StackedRNN)(ModuleEncoder.__init__)


@Seq2SeqEncoder.register("highway")
class HighwayEncoder(SizedEncoder):
    """AllenNLP's `Highway` layers (https://arxiv.org/abs/1505.00387), applied to each position.

    # Parameters

    input_size : `int`
        Also the size of the output.
    num_layers : `int`, optional (default = `2`)
    """

    def __init__(self, input_size: int, num_layers: int = 2) -> None:
        super().__init__(input_size, input_size, bidirectional=False)
        with configuration_errors():
            check_positive(input_size=input_size, num_layers=num_layers)
        self._highway = Highway(input_size, num_layers)

    def forward(self, inputs: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        """Encode B sentences (B, T, input size) to outputs of the same shape, zero at padded steps.
        By default, the `mask` (B, T) has no padding.
        """
        dtype = next(self._highway.parameters()).dtype
        inputs, mask = check_padded(inputs, mask, self._input_dim, dtype)
        # The inputs are set to zero as well: NaN times a zero gradient would be NaN.
        return clear_padding(self._highway(clear_padding(inputs, mask)), mask)


@Seq2SeqEncoder.register("sequential")
class SequentialEncoder(SizedEncoder):
    """Encoders in sequence: each reads the outputs of the previous one.

    AllenNLP's "compose" requires that all encoders are bidirectional or none is. Here they may be
    mixed, for example highway layers before a bidirectional encoder; whether the output is
    `[forward; backward]` depends only on the last encoder.

    # Parameters

    encoders : `list[Seq2SeqEncoder]`
        At least one.
    """

    def __init__(self, encoders: list[Seq2SeqEncoder]) -> None:
        if not encoders:
            raise ConfigurationError("encoders is empty; list at least one")
        first = encoders[0]
        last = encoders[-1]
        super().__init__(first.get_input_dim(), last.get_output_dim(), last.is_bidirectional())
        for position, (encoder, following) in enumerate(zip(encoders, encoders[1:])):
            check_dimensions_match(
                encoder.get_output_dim(),
                following.get_input_dim(),
                f"output dim of encoder {position}",
                f"input dim of encoder {position + 1}",
            )
        self.encoders = torch.nn.ModuleList(encoders)

    def forward(self, inputs: Tensor, mask: Optional[Tensor] = None) -> Tensor:
        """Encode B sentences (B, T, input size), with a `mask` (B, T), to (B, T, output size)."""
        # Some of AllenNLP's encoders need a mask, and do not check it. The first encoder checks the
        # precision.
        inputs, mask = check_padded(inputs, mask, self._input_dim, inputs.dtype)
        for encoder in self.encoders:
            inputs = encoder(inputs, mask)
        return inputs
