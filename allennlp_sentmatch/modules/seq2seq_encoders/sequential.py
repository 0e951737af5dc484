"""Encoders one after the other as a `Seq2SeqEncoder`."""

from typing import Optional

import torch
from allennlp.common.checks import ConfigurationError, check_dimensions_match
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.nn.padding import mask_of


@Seq2SeqEncoder.register("sequential")
class SequentialEncoder(Seq2SeqEncoder):
    """Encoders in sequence: each reads the outputs of the previous one.

    AllenNLP's "compose" requires that all encoders are bidirectional or none is. Here they may be
    mixed, for example highway layers before a bidirectional encoder; whether the output is
    `[forward; backward]` depends only on the last encoder.

    Registered as a `Seq2SeqEncoder` with name "sequential".

    # Parameters

    encoders : `list[Seq2SeqEncoder]`
        At least one.
    """

    def __init__(self, encoders: list[Seq2SeqEncoder]) -> None:
        super().__init__()
        if not encoders:
            raise ConfigurationError("encoders is empty; list at least one")
        for position, (encoder, following) in enumerate(zip(encoders, encoders[1:])):
            check_dimensions_match(
                encoder.get_output_dim(),
                following.get_input_dim(),
                f"output dim of encoder {position}",
                f"input dim of encoder {position + 1}",
            )
        self.encoders = torch.nn.ModuleList(encoders)
        self._input_dim = encoders[0].get_input_dim()
        self._output_dim = encoders[-1].get_output_dim()
        self._bidirectional = encoders[-1].is_bidirectional()

    def get_input_dim(self) -> int:
        """The size of a step of the first encoder's inputs."""
        return self._input_dim

    def get_output_dim(self) -> int:
        """The size of a step of the last encoder's outputs."""
        return self._output_dim

    def is_bidirectional(self) -> bool:
        """`True` if the last encoder's output is `[forward; backward]`."""
        return self._bidirectional

    def forward(self, inputs: torch.Tensor, mask: Optional[torch.Tensor] = None) -> torch.Tensor:
        """Encode B sentences (B, T, input size), whose `mask` (B, T) is by default without padding,
        to (B, T, output size).
        """
        mask = mask_of(inputs, mask)  # not every encoder of AllenNLP does without one
        for encoder in self.encoders:
            inputs = encoder(inputs, mask)
        return inputs
