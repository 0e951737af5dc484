"""The long short-term memory-network as a `Seq2SeqEncoder`."""

from collections.abc import Sequence
from typing import Any, Optional, Union

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.configuration_errors import constructs
from allennlp_sentmatch.modules.interpretable_encoder import trim_attention
from allennlp_sentmatch.modules.seq2seq_encoders.module_encoder import ModuleEncoder
from allennlp_sentmatch.nn import LSTMN


@Seq2SeqEncoder.register("lstmn")
class LstmnEncoder(ModuleEncoder):
    """The long short-term memory-network of [Cheng et al. (2016)](https://arxiv.org/abs/1601.06733),
    which attends over its own hidden states and cells at every token. An `InterpretableEncoder`,
    whose internals are the attention.

    Registered as a `Seq2SeqEncoder` with name "lstmn". The parameters are those of
    `allennlp_sentmatch.nn.LSTMN`.
    """

    module: LSTMN

    @constructs(LSTMN)
    def __init__(self, module: LSTMN) -> None:
        super().__init__(module)

    def forward(  # type: ignore[override]
        self,
        inputs: torch.Tensor,
        mask: Optional[torch.Tensor] = None,
        return_internals: bool = False,
    ) -> Union[torch.Tensor, tuple[torch.Tensor, dict[str, torch.Tensor]]]:
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
        """The attention of each direction."""
        if self.is_bidirectional():
            return ("self_attention", "self_attention_reverse")
        return ("self_attention",)

    def describe(self, internals: dict[str, torch.Tensor], tokens: Sequence[str]) -> dict[str, Any]:
        """The attention matrices, a row and a column for each token."""
        return {
            name: trim_attention(weights, len(tokens), len(tokens))
            for name, weights in internals.items()
        }
