"""The tables that the steps of a layer read and write, whatever the backend."""

from collections.abc import Sequence
from typing import NamedTuple, Optional, Union

from torch import Tensor


class LayerTables(NamedTuple):
    """Tables of N tokens in S directions: a row for each token, step by step as in `Packing`."""

    #: The packing's: the number of rows of each step.
    sizes: list[int]
    #: Of each direction, U: (R, H), with R = 4H or 5H.
    weight_hh: Sequence[Tensor]
    #: (S, N, GH), with G = 4 or 5: the gates [i; f; g; o; v]. The forward pass finds in it W x + b
    #: (with peepholes, v also has peephole_lower * lower), the backward pass leaves in it the
    #: gradients of the gates' arguments.
    gates: Tensor
    hidden: Tensor  # (S, N, H): h
    cell: Tensor  # (S, N, H): c
    lower: Optional[Tensor]  # (S, N, H): the cells of the layer below
    left_weight: Union[Tensor, float]  # (S, 1, H), as is `peephole_left`
    lower_weight: float
    peephole_left: Optional[Tensor]
    #: The first step to run: 1 if the rows of step 0 hold the initial states.
    first_step: int = 0


class LayerGradients(NamedTuple):
    """The gradients of a layer's outputs, and buffers for those of its arguments."""

    hidden: Tensor  # (S, N, H): of h, from outside
    cell: Optional[Tensor]  # (S, N, H): of c, from outside
    #: (S, N, H): to be filled with the gradient of `lower`, without what passes through a peephole.
    lower: Optional[Tensor]
    left_weight: Optional[Tensor]  # (S, 1, H): zeros, to which that of `left_weight` is added
    #: (S, B, H): to be filled with the gradient of the initial c.
    initial_cell: Optional[Tensor] = None
