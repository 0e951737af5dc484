"""The tables of the LSTMN's recurrence.

There are S directions, N tokens, B sentences of at most T tokens, H units and A units of attention.
Rows of N tokens are packed; see `allennlp_sentmatch.nn.ops.common.packing`.
"""

from typing import NamedTuple, Optional

from torch import Tensor


class LSTMNTables(NamedTuple):
    """The results of a forward pass that its backward pass needs, apart from the tapes."""

    gates: Tensor  # (S, N, 4H): i, f, g, o
    queries: Tensor  # (S, N, A): 2 (W_x x_t + W_h~ h~_{t-1})
    hidden: Tensor  # (S, N, H)
    cell: Tensor  # (S, N, H)
    attention: Tensor  # (S, B, T, T)
    summary: Tensor  # (2, S, N, H): h~ and c~


class Tapes(NamedTuple):
    """Inputs of a step from all tokens before it; a sentence's rows are side by side."""

    keys: Tensor  # (S, N, A): 2 W_h h
    states: Tensor  # (S, N, 2H): [h; c]


class LSTMNOutputGradients(NamedTuple):
    """The gradients of the recurrence's outputs; `None` for an output that is not used."""

    hidden: Optional[Tensor]  # (S, N, H)
    cell: Optional[Tensor]  # (S, N, H)
    attention: Optional[Tensor]  # (S, B, T, T)


class LSTMNGradients(NamedTuple):
    """The results of a backward pass through the steps."""

    gates: Tensor  # (S, N, 4H): of the gates' arguments
    queries: Tensor  # (S, N, A): of W_x x_t + W_h~ h~_{t-1}
    keys: Tensor  # (S, N, A): of W_h h_t
    vector: Tensor  # (S, A)
    initial: Tensor  # (2, S, B, H): of h~ and c~ at the first step
