"""The parameters of the LSTMN's recurrence."""

from typing import NamedTuple

import torch
from torch import Tensor


class LSTMNWeights(NamedTuple):
    """The parameters of one direction under their names in `LSTMN`; or of S directions, stacked."""

    weight_ih_l0: Tensor
    weight_hh_l0: Tensor
    bias_l0: Tensor
    attention_hidden: Tensor
    attention_input: Tensor
    attention_previous: Tensor
    attention_vector: Tensor


def from_summary_and_hidden(weights: LSTMNWeights) -> tuple[Tensor, Tensor]:
    """Return the weights that are applied to h~ and to h at each step.

    The first, (S, 4H + A, H), maps h~ to its part of the gates' arguments and of the next query.
    The second, (S, A, H), maps h to its key. Queries and keys are doubled, as in `tables`.
    """
    to_query = 2 * weights.attention_previous
    return torch.cat([weights.weight_hh_l0, to_query], 1), 2 * weights.attention_hidden
