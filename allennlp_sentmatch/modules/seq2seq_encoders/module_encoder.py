"""The base class of encoders that hold a plain PyTorch module."""

from typing import Optional, Protocol

import torch
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder


class SequenceModule(Protocol):
    """A `torch.nn.Module` that encodes sentences, as those of `allennlp_sentmatch.nn`."""

    input_size: int
    bidirectional: bool

    @property
    def output_size(self) -> int:
        """The size of a step of the outputs."""

    def __call__(self, inputs: torch.Tensor, mask: Optional[torch.Tensor]) -> torch.Tensor:
        """The outputs, zero at padded steps."""


class ModuleEncoder(Seq2SeqEncoder):
    """A `Seq2SeqEncoder` that applies a plain PyTorch module to its inputs and mask. The encoders
    of this package are subclasses that add only their constructors.

    # Parameters

    module : `SequenceModule`
    """

    def __init__(self, module: SequenceModule) -> None:
        super().__init__()
        self.module = module

    def get_input_dim(self) -> int:
        """The size of a step of the inputs."""
        return self.module.input_size

    def get_output_dim(self) -> int:
        """The size of a step of the outputs."""
        return self.module.output_size

    def is_bidirectional(self) -> bool:
        """`True` if the output is `[forward; backward]`."""
        return self.module.bidirectional

    def forward(self, inputs: torch.Tensor, mask: Optional[torch.Tensor] = None) -> torch.Tensor:
        """Encode a batch of B sentences.

        # Parameters

        inputs : `torch.Tensor`
            (B, T, input size)
        mask : `torch.BoolTensor`, optional (default = `None`)
            (B, T), right-padded. `None`: nothing is padding.

        # Returns

        `torch.Tensor`
            (B, T, output size), zero at padded steps.
        """
        return self.module(inputs, mask)
