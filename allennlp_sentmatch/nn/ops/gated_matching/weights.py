"""The parameters of the gated attention-based recurrence.

A is the size of the attention's hidden layer, P and Q are those of a passage's and a question's
token, D = P + Q, and H is that of the state.
"""

from typing import NamedTuple

from torch import Tensor


class GatedMatchingWeights(NamedTuple):
    """The parameters of one direction under their names in `GatedMatching`; or of S, stacked."""

    attention_question: Tensor  # (A, Q)
    attention_passage: Tensor  # (A, P)
    attention_previous: Tensor  # (A, H)
    attention_vector: Tensor  # (A)
    gate: Tensor  # (D, D)
    weight_ih_l0: Tensor  # (3H, D): r, z, n
    weight_hh_l0: Tensor  # (3H, H)
    bias_ih_l0: Tensor  # (3H)
    bias_hh_l0: Tensor  # (3H)
