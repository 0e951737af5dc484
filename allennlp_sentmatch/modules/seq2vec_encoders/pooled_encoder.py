"""The pooled outputs of a `Seq2SeqEncoder` as a `Seq2VecEncoder`."""

from typing import Optional, Union

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder
from allennlp.modules.seq2vec_encoders import Seq2VecEncoder

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.nn.pooling import Pooling


@Seq2VecEncoder.register("pooled")
class PooledEncoder(Pooling, Seq2VecEncoder):
    """A `Seq2SeqEncoder` and one or several poolings of its outputs:
    `allennlp_sentmatch.nn.Pooling`.

    Registered as a `Seq2VecEncoder` with name "pooled".

    # Parameters

    encoder : `Seq2SeqEncoder`, required.
    pooling : `Union[str, list[str]]`, optional (default = `"max"`).
        One or several of `"max"`, `"mean"`, `"min"`, `"last"` (the last step's forward half and
        the first step's backward half) and `"attention"`, concatenated in the order given.
    """

    def __init__(self, encoder: Seq2SeqEncoder, pooling: Union[str, list[str]] = "max") -> None:
        with configuration_errors():
            super().__init__(encoder.get_output_dim(), pooling, encoder.is_bidirectional())
        self.encoder = encoder

    def get_input_dim(self) -> int:
        """The size of a step of the inputs."""
        input_size: int = self.encoder.get_input_dim()
        return input_size

    def get_output_dim(self) -> int:
        """The size of the vector of a sentence."""
        return self.output_size

    def forward(
        self,
        inputs: torch.Tensor,
        mask: Optional[torch.Tensor] = None,
        return_attention: bool = False,
    ) -> Union[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        """Encodes a batch of sentences.

        # Parameters

        inputs : `torch.Tensor`, required.
            A tensor of shape `(batch_size, timesteps, input_dim)`.
        mask : `torch.BoolTensor`, optional (default = `None`).
            A tensor of shape `(batch_size, timesteps)`, right-padded. `None`: nothing is padding.
        return_attention : `bool`, optional (default = `False`).
            Whether to return the attention weights as well.

        # Returns

        A tensor of shape `(batch_size, output_dim)`, zeros for an empty sentence; with
        `return_attention` a pair of it and the weights, of shape `(batch_size, timesteps)`.
        """
        if mask is None:
            mask = inputs.new_ones(inputs.shape[:2], dtype=torch.bool)
        return super().forward(self.encoder(inputs, mask), mask, return_attention)
