"""The parameters of the Gumbel Tree-LSTM's composition."""

from typing import NamedTuple

from torch import Tensor


class TreeWeights(NamedTuple):
    """The parameters of the composition."""

    weight: Tensor  # (5H, 2H), W_comp
    bias: Tensor  # (5H), b_comp
    query: Tensor  # (H), q
