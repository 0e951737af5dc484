"""`Seq2VecEncoder`s: `gumbel_tree_lstm` and `pooled`."""

from collections.abc import Sequence
from typing import Any, Optional, Union

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from allennlp.modules.seq2vec_encoders import Seq2VecEncoder
from torch import Tensor

from allennlp_sentmatch.modules.configuration_errors import configuration_errors, constructs
from allennlp_sentmatch.modules.interpretable_encoder import (
    InterpretableEncoder,
    encode_with_internals,
    trim_attention,
)
from allennlp_sentmatch.modules.parts import pooling_of
from allennlp_sentmatch.nn import GumbelTreeLSTM, bracketing
from allennlp_sentmatch.nn.padding import mask_of


@Seq2VecEncoder.register("gumbel_tree_lstm")
class GumbelTreeLstmEncoder(Seq2VecEncoder):
    """The Gumbel Tree-LSTM of [Choi et al. (2018)](https://arxiv.org/abs/1707.02786), which learns
    to compose a sentence as a binary tree. An `InterpretableEncoder`, whose internals are the
    trees. Takes the settings of `allennlp_sentmatch.nn.GumbelTreeLSTM`.
    """

    @constructs(GumbelTreeLSTM)
    def __init__(self, module: GumbelTreeLSTM) -> None:
        super().__init__()
        self.module = module

    def get_input_dim(self) -> int:
        return self.module.input_size

    def get_output_dim(self) -> int:
        return self.module.output_size

    def forward(
        self,
        inputs: Tensor,
        mask: Optional[Tensor] = None,
        return_internals: bool = False,
    ) -> Union[Tensor, tuple[Tensor, dict[str, Tensor]]]:
        """Encode B sentences (B, T, input size) as the roots of their trees (B, output size). The
        `mask` (B, T) is right-padded; by default, there is no padding. With `return_internals`, the
        result is a pair of the roots and `{"merges": ...}`, see `GumbelTreeLSTM.compose`.
        """
        mask = _as_bool(mask)
        if return_internals:
            composition = self.module.compose(inputs, mask)
            return composition.hidden, {"merges": composition.merges}
        outputs: Tensor = self.module(inputs, mask)
        return outputs

    @property
    def internal_names(self) -> tuple[str, ...]:
        """The name of the merges, which define the trees."""
        return ("merges",)

    def describe(self, internals: dict[str, Tensor], tokens: Sequence[str]) -> dict[str, Any]:
        """Return the sentence's `tree` as nested parentheses."""
        return {"tree": bracketing(internals["merges"], tokens)}


@Seq2VecEncoder.register("pooled")
class PooledEncoder(Seq2VecEncoder):
    """A `Seq2SeqEncoder` and one or several poolings of its outputs:
    `allennlp_sentmatch.nn.Pooling`. An `InterpretableEncoder`, whose internals are the attention of
    its pooling and the internals of its encoder.

    # Parameters

    encoder : `Seq2SeqEncoder`
    pooling : `Union[str, list[str]]`, optional (default = `"max"`)
        One or several of `"max"`, `"mean"`, `"min"`, `"last"` (the last step's forward half and
        the first step's backward half) and `"attention"`, concatenated in the order given.
    """

    def __init__(self, encoder: Seq2SeqEncoder, pooling: Union[str, list[str]] = "max") -> None:
        super().__init__()
        self.encoder = encoder
        with configuration_errors():
            self.pooling = pooling_of(encoder, pooling)
        self._register_load_state_dict_pre_hook(  # type: ignore[no-untyped-call]
            _rename_attention
        )

    def get_input_dim(self) -> int:
        input_size: int = self.encoder.get_input_dim()
        return input_size

    def get_output_dim(self) -> int:
        return self.pooling.output_size

    def forward(
        self,
        inputs: Tensor,
        mask: Optional[Tensor] = None,
        return_internals: bool = False,
    ) -> Union[Tensor, tuple[Tensor, dict[str, Tensor]]]:
        """Encode B sentences (B, T, input size) as vectors (B, output size), zeros for an empty
        sentence. The `mask` (B, T) is right-padded; by default, there is no padding. With
        `return_internals`, the result is a pair of the vectors and the encoder's internals, with
        `pooling_attention` (B, T) if there is one.
        """
        mask = mask_of(inputs, _as_bool(mask))  # some of AllenNLP's encoders need a mask
        outputs, internals = encode_with_internals(self.encoder, inputs, mask)
        pooled = self.pooling(outputs, mask, return_attention=self._attends())
        if isinstance(pooled, tuple):
            pooled, internals["pooling_attention"] = pooled
        return (pooled, internals) if return_internals else pooled

    @property
    def internal_names(self) -> tuple[str, ...]:
        """The encoder's internals and, with the pooling "attention", `pooling_attention`."""
        own = ("pooling_attention",) if self._attends() else ()
        if isinstance(self.encoder, InterpretableEncoder):
            return (*self.encoder.internal_names, *own)
        return own

    def describe(self, internals: dict[str, Tensor], tokens: Sequence[str]) -> dict[str, Any]:
        """Return the encoder's description, and the pooling's weight of each token."""
        described: dict[str, Any] = {}
        if isinstance(self.encoder, InterpretableEncoder):
            of_encoder = {name: internals[name] for name in self.encoder.internal_names}
            described.update(self.encoder.describe(of_encoder, tokens))
        if self._attends():
            described["pooling_attention"] = trim_attention(
                internals["pooling_attention"], len(tokens)
            )
        return described

    def _attends(self) -> bool:
        return "attention" in self.pooling.poolings


def _as_bool(mask: Optional[Tensor]) -> Optional[Tensor]:
    """Return a mask as bool: AllenNLP's embedder `character_encoding` passes integers."""
    return mask.bool() if mask is not None and mask.dtype == torch.long else mask


def _rename_attention(
    state_dict: dict[str, Tensor],
    prefix: str,
    *_: Any,
) -> None:
    """Read weights that were saved when a `PooledEncoder` was itself a `Pooling`."""
    for name in ("attention_projection.weight", "attention_projection.bias", "attention_vector"):
        if prefix + name in state_dict:
            state_dict[f"{prefix}pooling.{name}"] = state_dict.pop(prefix + name)
