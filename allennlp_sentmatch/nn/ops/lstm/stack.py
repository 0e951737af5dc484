"""CAS-LSTM over packed sentences: all directions of a layer together, its inputs in one product."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional, Union

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.packing import Packing
from allennlp_sentmatch.nn.ops.lstm.layer import lstm_layer


class LayerWeights(NamedTuple):
    """The parameters of one layer in one direction."""

    weight_ih: Tensor
    weight_hh: Tensor
    bias: Tensor
    #: 1 - lambda and lambda, numbers or of shape (H).
    left_weight: Union[float, Tensor] = 1.0
    lower_weight: Union[float, Tensor] = 1.0
    peephole_left: Optional[Tensor] = None
    peephole_lower: Optional[Tensor] = None


def read_stack(
    backend: Backend,
    inputs: Tensor,
    mask: Tensor,
    layers: list[list[LayerWeights]],
    dropout: float,
    training: bool,
) -> Tensor:
    """The top layer's hidden states.

    # Parameters

    backend : `Backend`
        Any but "naive".
    inputs : `Tensor`
        Shape (B, T, D).
    mask : `Tensor`
        Shape (B, T), right-padded, with at least one token.
    layers : `List[List[LayerWeights]]`
        Each layer's parameters, for each of the S directions (left-to-right first).
    dropout : `float`
        The dropout probability between layers, where `training`.

    # Returns

    `Tensor`
        Shape (B, T, S * H), zero at padding.
    """
    packing = Packing.of(mask, bidirectional=len(layers[0]) == 2)
    hidden = packing.pack(inputs)  # (S, N, D)
    cell: Optional[Tensor] = None
    for layer, directions in enumerate(layers):
        if layer > 0:
            hidden = F.dropout(hidden, dropout, training)
        weight_ih, weight_hh, *vectors = zip(*directions)
        bias, *cell_weights = map(_stack, vectors)
        left_weight, lower_weight, peephole_left, peephole_lower = (
            x.unsqueeze(1) if isinstance(x, Tensor) else x  # (S, 1, H)
            for x in cell_weights
        )
        hidden, cell = lstm_layer(  # (S, N, H)
            backend,
            hidden,
            weight_ih,
            weight_hh,
            bias,
            packing,
            cell,
            left_weight,
            lower_weight,
            peephole_left,
            peephole_lower,
        )
    return packing.unpack(hidden)


def _stack(directions: Sequence[Any]) -> Any:
    """A vector of all directions: (S, ...); or the number or `None` that they share."""
    if not isinstance(directions[0], Tensor):
        return directions[0]
    return directions[0].unsqueeze(0) if len(directions) == 1 else torch.stack(list(directions))
