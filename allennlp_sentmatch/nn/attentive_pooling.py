"""Attentive pooling of two sentences with weights that depend on both.

dos Santos, Tan, Xiang and Zhou 2016, "Attentive Pooling Networks" (arXiv:1602.03609), section 4.
With q_i and a_j the token vectors of a question and an answer, and U learned:

    G_ij = tanh(q_i^T U a_j)
    sigma^q = softmax_i(max_j G_ij),   r^q = sum_i sigma^q_i q_i
    sigma^a = softmax_j(max_i G_ij),   r^a = sum_j sigma^a_j a_j
"""

from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter, without_autocast
from allennlp_sentmatch.nn.padding import mask_of


class AttentivelyPooled(NamedTuple):
    """The result of `AttentivePooling`."""

    first: Tensor
    """(B, E), r^q."""
    second: Tensor
    """(B, E), r^a."""
    first_attention: Tensor
    """(B, M), sigma^q."""
    second_attention: Tensor
    """(B, L), sigma^a."""


class AttentivePooling(torch.nn.Module):
    """Two-way attentive pooling; the equations are in the module's docstring.

    It computes in the precision of its parameter, under autocast as well.

    # Parameters

    input_size : `int`
        E, the size of a token's vector.

    # Attributes

    weight : `torch.nn.Parameter`
        (E, E), U.

    # Raises

    `ValueError`
        If `input_size` is less than 1.
    """

    def __init__(self, input_size: int) -> None:
        super().__init__()
        check_positive(input_size=input_size)
        self.weight = torch.nn.Parameter(torch.empty(input_size, input_size))
        torch.nn.init.xavier_uniform_(self.weight)

    def extra_repr(self) -> str:
        """The settings."""
        return str(len(self.weight))

    def forward(
        self,
        first: Tensor,
        first_mask: Optional[Tensor],
        second: Tensor,
        second_mask: Optional[Tensor],
    ) -> AttentivelyPooled:
        """Pool B pairs of sentences.

        # Parameters

        first : `Tensor`
            (B, M, E)
        first_mask : `Optional[Tensor]`
            (B, M), bool. `None`: nothing is padding.
        second : `Tensor`
            (B, L, E)
        second_mask : `Optional[Tensor]`
            (B, L), bool. `None`: nothing is padding.

        # Returns

        `AttentivelyPooled`
            The vector of an empty sentence is zero. A sentence paired with an empty one is pooled
            to its mean.
        """
        first_mask, second_mask = mask_of(first, first_mask), mask_of(second, second_mask)
        first, second = (
            cast_to_parameter(first, self.weight),
            cast_to_parameter(second, self.weight),
        )
        # Clear the padding, because NaN times a weight of zero is NaN.
        first = first.masked_fill(~first_mask.unsqueeze(-1), 0.0)
        second = second.masked_fill(~second_mask.unsqueeze(-1), 0.0)
        with without_autocast(first.device):
            # Shape: (B, M, L)
            scores = torch.tanh(first.matmul(self.weight).bmm(second.transpose(1, 2)))
            # No score is less than -1, so padding is never the maximum. One more step of padding
            # gives sentences without tokens a maximum.
            is_pair = first_mask.unsqueeze(2) & second_mask.unsqueeze(1)
            scores = F.pad(scores.masked_fill(~is_pair, -1.0), (0, 1, 0, 1), value=-1.0)
            first_best = scores[:, :-1].max(dim=2).values  # (B, M)
            second_best = scores[:, :, :-1].max(dim=1).values  # (B, L)
            first_attention = masked_softmax(first_best, first_mask)  # (B, M)
            second_attention = masked_softmax(second_best, second_mask)  # (B, L)
            return AttentivelyPooled(
                torch.einsum("bm,bme->be", first_attention, first),
                torch.einsum("bl,ble->be", second_attention, second),
                first_attention,
                second_attention,
            )
