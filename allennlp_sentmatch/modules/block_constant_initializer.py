"""An initializer for the biases of gates."""

from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.nn import Initializer


@Initializer.register("block_constant")
class BlockConstantInitializer(Initializer):
    """Sets blocks of equal size, such as the biases of a recurrent layer's gates, to constants.

    For layers without the four gates of an LSTM, which AllenNLP's "lstm_hidden_bias" expects.

    # Parameters

    values : `list[float]`
        The constant of each block of the first dimension.
    """

    def __init__(self, values: list[float]) -> None:
        self.values = values

    def __call__(self, tensor: torch.Tensor, **kwargs: Any) -> None:
        """Set the blocks of `tensor`, whose rows must divide into as many blocks."""
        if not self.values or len(tensor) % len(self.values):
            raise ConfigurationError(
                f"block_constant cannot divide {len(tensor)} rows into {len(self.values)} equal "
                f"blocks, as its values {self.values} ask"
            )
        for block, value in zip(tensor.data.chunk(len(self.values)), self.values):
            block.fill_(value)
