"""The parameters of a layer of an LSTM or a CAS-LSTM."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional, Union

import torch
from torch import Tensor


class LayerWeights(NamedTuple):
    """The parameters of one layer in one direction, their blocks in the order i, f, g, o, v."""

    weight_ih: Tensor  # W: (4H or 5H, D)
    weight_hh: Tensor  # U: as many rows, but 4H with peepholes; (..., H)
    bias: Tensor  # (4H or 5H)
    #: 1 - lambda and lambda, numbers or of shape (H).
    left_weight: Union[float, Tensor] = 1.0
    lower_weight: Union[float, Tensor] = 1.0
    peephole_left: Optional[Tensor] = None  # (H), as is the next
    peephole_lower: Optional[Tensor] = None


class LayerParameters(NamedTuple):
    """The `LayerWeights` of a layer's S directions side by side."""

    bias: Tensor  # (S, GH)
    left_weight: Union[Tensor, float]  # (S, 1, H), as are the next three
    lower_weight: Union[Tensor, float]
    peephole_left: Optional[Tensor]
    peephole_lower: Optional[Tensor]
    weight_ih: Sequence[Tensor]  # not stacked, which would be a copy: (GH, D) each
    weight_hh: Sequence[Tensor]  # (R, H) each

    @classmethod
    def of(cls, directions: Sequence[LayerWeights]) -> "LayerParameters":
        """Stack the directions' vectors."""
        weight_ih, weight_hh, bias, *vectors = zip(*directions)
        left_weight, lower_weight, peephole_left, peephole_lower = (
            x.unsqueeze(1) if isinstance(x, Tensor) else x for x in map(_stack, vectors)
        )
        return cls(
            _stack(bias),
            left_weight,
            lower_weight,
            peephole_left,
            peephole_lower,
            weight_ih,
            weight_hh,
        )


def _stack(directions: Sequence[Any]) -> Any:
    """A vector of all directions (S, ...), or the number or `None` that they share."""
    if not isinstance(directions[0], Tensor):
        return directions[0]
    return directions[0].unsqueeze(0) if len(directions) == 1 else torch.stack(list(directions))
