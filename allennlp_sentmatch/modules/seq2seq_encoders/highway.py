"""Highway layers as a `Seq2SeqEncoder`."""

from typing import Optional

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.modules.highway import Highway
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.nn.padding import mask_of


@Seq2SeqEncoder.register("highway")
class HighwayEncoder(Seq2SeqEncoder):
    """AllenNLP's `Highway` layers ([Srivastava et al. (2015)](https://arxiv.org/abs/1505.00387)),
    applied to each position.

    Registered as a `Seq2SeqEncoder` with name "highway".

    # Parameters

    input_size : `int`
        Also the size of the output.
    num_layers : `int`, optional (default = `2`)
    """

    def __init__(self, input_size: int, num_layers: int = 2) -> None:
        super().__init__()
        for name, value in (("input_size", input_size), ("num_layers", num_layers)):
            if value < 1:
                raise ConfigurationError(f"{name} must be at least 1, got {value}")
        self._input_dim = input_size
        self._highway = Highway(input_size, num_layers)

    def get_input_dim(self) -> int:
        """The size of a step of the inputs."""
        return self._input_dim

    def get_output_dim(self) -> int:
        """The size of a step of the outputs."""
        return self._input_dim

    def is_bidirectional(self) -> bool:
        """`False`: the output is not `[forward; backward]`."""
        return False

    def forward(self, inputs: torch.Tensor, mask: Optional[torch.Tensor] = None) -> torch.Tensor:
        """Encode B sentences (B, T, input size), whose `mask` (B, T) is by default without padding,
        to outputs of the same shape, zero at padded steps.
        """
        padding = ~mask_of(inputs, mask).unsqueeze(-1)  # (B, T, 1)
        # The inputs are cleared as well: NaN there times a gradient of zero would be NaN.
        outputs: torch.Tensor = self._highway(inputs.masked_fill(padding, 0.0))
        return outputs.masked_fill(padding, 0.0)
