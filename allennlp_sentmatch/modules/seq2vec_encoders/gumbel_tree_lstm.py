"""The Gumbel Tree-LSTM as a `Seq2VecEncoder`."""

from collections.abc import Sequence
from typing import Any, Optional, Union

import torch
from allennlp.modules.seq2vec_encoders import Seq2VecEncoder

from allennlp_sentmatch.modules.configuration_errors import constructs
from allennlp_sentmatch.nn import GumbelTreeLSTM, bracketing


@Seq2VecEncoder.register("gumbel_tree_lstm")
class GumbelTreeLstmEncoder(Seq2VecEncoder):
    """The Gumbel Tree-LSTM of [Choi et al. (2018)](https://arxiv.org/abs/1707.02786), which learns
    to compose a sentence as a binary tree. An `InterpretableEncoder`, whose internals are the
    trees.

    Registered as a `Seq2VecEncoder` with name "gumbel_tree_lstm". The parameters are those of
    `allennlp_sentmatch.nn.GumbelTreeLSTM`.
    """

    @constructs(GumbelTreeLSTM)
    def __init__(self, module: GumbelTreeLSTM) -> None:
        super().__init__()
        self.module = module

    def get_input_dim(self) -> int:
        """The size of a step of the inputs."""
        return self.module.input_size

    def get_output_dim(self) -> int:
        """The size of the vector of a sentence."""
        return self.module.output_size

    def forward(
        self,
        inputs: torch.Tensor,
        mask: Optional[torch.Tensor] = None,
        return_internals: bool = False,
    ) -> Union[torch.Tensor, tuple[torch.Tensor, dict[str, torch.Tensor]]]:
        """Encode B sentences (B, T, input size), whose `mask` (B, T), right-padded, is by default
        without padding, as the roots of their trees (B, output size); with `return_internals` the
        result is a pair of these and `{"merges": ...}`, as `GumbelTreeLSTM.compose` has them.
        """
        if return_internals:
            composition = self.module.compose(inputs, mask)
            return composition.hidden, {"merges": composition.merges}
        outputs: torch.Tensor = self.module(inputs, mask)
        return outputs

    @property
    def internal_names(self) -> tuple[str, ...]:
        """`merges`, which make up the trees."""
        return ("merges",)

    def describe(self, internals: dict[str, torch.Tensor], tokens: Sequence[str]) -> dict[str, Any]:
        """The sentence's `tree` as nested parentheses."""
        return {"tree": bracketing(internals["merges"], tokens)}
