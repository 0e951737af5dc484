"""The interface of two networks that read a pair of sentences and make one vector of it."""

from abc import ABC, abstractmethod
from typing import Literal, NamedTuple, Optional, Union, overload

import torch

from allennlp_sentmatch.nn.padding import mask_of


class PairAttention(NamedTuple):
    """The attention of a `PairReader`, as far as it has any; shapes as in its `forward`."""

    premise: Optional[torch.Tensor] = None
    hypothesis: Optional[torch.Tensor] = None
    inter: Optional[torch.Tensor] = None


class PairReader(torch.nn.Module, ABC):
    """Two networks, the first for the premise and the second for the hypothesis.

    # Parameters

    input_size : `int`
        D, the size of a token's vector.
    hidden_size : `int`
        H, the size of both networks' states and of the pair's vector.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size

    @property
    def output_size(self) -> int:
        """The size of the pair's vector."""
        return self.hidden_size

    @overload
    def forward(
        self,
        premise: torch.Tensor,
        premise_mask: Optional[torch.Tensor],
        hypothesis: torch.Tensor,
        hypothesis_mask: Optional[torch.Tensor],
        return_attention: Literal[False] = False,
    ) -> torch.Tensor: ...

    @overload
    def forward(
        self,
        premise: torch.Tensor,
        premise_mask: Optional[torch.Tensor],
        hypothesis: torch.Tensor,
        hypothesis_mask: Optional[torch.Tensor],
        return_attention: Literal[True],
    ) -> tuple[torch.Tensor, PairAttention]: ...

    def forward(
        self,
        premise: torch.Tensor,
        premise_mask: Optional[torch.Tensor],
        hypothesis: torch.Tensor,
        hypothesis_mask: Optional[torch.Tensor],
        return_attention: bool = False,
    ) -> Union[torch.Tensor, tuple[torch.Tensor, PairAttention]]:
        """Encode a batch of pairs.

        # Parameters

        premise, hypothesis : `torch.Tensor`
            Shapes (batch_size, premise_length, input_size) and
            (batch_size, hypothesis_length, input_size).
        premise_mask, hypothesis_mask : `Optional[torch.Tensor]`
            Shapes (batch_size, premise_length) and (batch_size, hypothesis_length), bool,
            right-padded. `None`: nothing is padding.
        return_attention : `bool`, optional (default = `False`)

        # Returns

        `Union[torch.Tensor, tuple[torch.Tensor, PairAttention]]`
            The pairs' vectors, shape (batch_size, output_size); the state of an empty sentence is
            zero. With `return_attention`, a pair of them and the attention. Of the latter,
            `premise` (batch_size, premise_length, premise_length) and `hypothesis`
            (batch_size, hypothesis_length, hypothesis_length) are those of the networks within
            their sentences, a row for each token, and `inter` (batch_size, premise_length) is the
            one from the hypothesis to the premise, zero at padding. `None`: there is no such
            attention.

        # Raises

        `TypeError`
            If the type of an argument is wrong.
        `ValueError`
            If a shape is wrong, or a token follows padding.
        """
        encoding, attention = self.read(
            premise,
            mask_of(premise, premise_mask),
            hypothesis,
            mask_of(hypothesis, hypothesis_mask),
        )
        return (encoding, attention) if return_attention else encoding

    @abstractmethod
    def read(
        self,
        premise: torch.Tensor,
        premise_mask: torch.Tensor,
        hypothesis: torch.Tensor,
        hypothesis_mask: torch.Tensor,
    ) -> tuple[torch.Tensor, PairAttention]:
        """Return what `forward` does with `return_attention`."""


def last_state(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return each sentence's last state, (B, H), of all states (B, T, H); zero if it is empty."""
    index = torch.arange(mask.size(1), device=mask.device)
    is_last = index == mask.sum(1, keepdim=True) - 1  # (B, T)
    return (states * is_last.unsqueeze(2)).sum(1)
