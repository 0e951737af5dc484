"""The parameters of SuBiLSTM's recurrence."""

from typing import NamedTuple

from torch import Tensor


class SuffixWeights(NamedTuple):
    """The parameters of a cell: `weight_ih_l0` (GH, D), `weight_hh_l0` (GH, H), `bias_l0` (GH)."""

    weight_ih_l0: Tensor
    weight_hh_l0: Tensor
    bias_l0: Tensor
