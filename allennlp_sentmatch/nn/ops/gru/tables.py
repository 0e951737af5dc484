"""The tables of a GRU's layer.

There are S directions and N tokens in packed rows; see `allennlp_sentmatch.nn.ops.common.packing`.
H is the size of the state.
"""

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor


class GRUTables(NamedTuple):
    """The tables that the steps read and write."""

    #: The number of rows of each step.
    sizes: list[int]
    #: U_r, U_z and U_n of each direction, (3H, H).
    weight_hh: Sequence[Tensor]
    bias_hh: Tensor  # (S, 3H)
    #: (S, N, 3H): W x + b before a step, then r, z and n. A backward step replaces these by the
    #: gradients of W x + b.
    gates: Tensor
    candidate: Tensor  # (S, N, H): U_n h_{t-1} + c_n
    hidden: Tensor  # (S, N, H)
