"""The parameters of a GRU's layer."""

from typing import NamedTuple

from torch import Tensor


class GRUWeights(NamedTuple):
    """Those of one direction, in the order of `torch.nn.GRU.all_weights`."""

    weight_ih: Tensor  # (3H, D): r, z, n
    weight_hh: Tensor  # (3H, H)
    bias_ih: Tensor  # (3H)
    bias_hh: Tensor  # (3H)
