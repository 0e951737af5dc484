"""The tables of the gated attention-based recurrence.

There are S directions, N passage tokens, B passages of at most T tokens and questions of at most M.
P and Q are the sizes of a passage's and a question's token, D = P + Q, H that of the state and A
that of the attention's hidden layer. Rows of N tokens are packed; see
`allennlp_sentmatch.nn.ops.common.packing`.
"""

from typing import NamedTuple, Optional

from torch import Tensor


class GatedMatchingArguments(NamedTuple):
    """The differentiable arguments of the steps, or in the same order their gradients."""

    passage: Tensor  # (S, N, P): u^P
    queries: Tensor  # (S, N, A): W_u^P u^P
    gates: Tensor  # (S, N, D): the part of W_g [u^P; c] that u^P contributes
    keys: Tensor  # (S, B, M, A): W_u^Q u^Q
    values: Tensor  # (S, B, M, Q + D): u^Q, and the part of W_g [u^P; c] that it contributes to
    attention_previous: Tensor  # (S, A, H), as are the next five: stacked parameters
    attention_vector: Tensor
    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor
    bias_hh: Tensor


class GatedMatchingTables(NamedTuple):
    """The results of a forward pass that its backward pass needs."""

    queries: Tensor  # (S, N, A): 2 (W_u^P u^P_t + W_v^P v^P_{t-1})
    gates: Tensor  # (S, N, D): g
    gated: Tensor  # (S, N, D): g * [u^P; c]
    gru: Tensor  # (S, N, 3H): r, z, n
    candidate: Tensor  # (S, N, H): the part of n's argument that r gates
    hidden: Tensor  # (S, N, H): v^P
    attention: Tensor  # (S, N, M): a


class GatedMatchingOutputGradients(NamedTuple):
    """The gradients of the recurrence's outputs; `None` for an output that is not used."""

    hidden: Optional[Tensor]  # (S, N, H)
    attention: Optional[Tensor]  # (S, N, M)
