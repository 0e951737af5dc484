"""The parameters of a layer of an LSTM or a CAS-LSTM, and the tables of its steps.

Tables of N tokens in S directions have a row for each token, step by step as in `Packing`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional, Union

from torch import Tensor

from allennlp_sentmatch.nn.ops.common.products import stack


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


class LayerStack(NamedTuple):
    """A stack of layers."""

    #: For each layer, the parameters of its S directions, left-to-right first.
    layers: Sequence[Sequence[LayerWeights]]
    #: The dropout probability of the hidden states between two layers, if `training`.
    dropout: float = 0.0
    training: bool = False


class LayerParameters(NamedTuple):
    """The `LayerWeights` of a layer's S directions; vectors side by side, (S, GH) or (S, 1, H)."""

    weight_ih: Sequence[Any]  # not stacked, to avoid a copy: (GH, D) each
    weight_hh: Sequence[Any]  # (R, H) each
    bias: Any
    left_weight: Any
    lower_weight: Any
    peephole_left: Any
    peephole_lower: Any

    @classmethod
    def of(cls, directions: Sequence[LayerWeights]) -> "LayerParameters":
        """Stack the directions' vectors."""
        weight_ih, weight_hh, bias, *vectors = zip(*directions)
        return cls(
            list(weight_ih),
            list(weight_hh),
            stack(bias),
            # A number or `None` is the same in all directions.
            *(stack(x).unsqueeze(1) if isinstance(x[0], Tensor) else x[0] for x in vectors),
        )


class LayerInputs(NamedTuple):
    """The inputs of a layer of H units over N tokens of B sentences in S directions."""

    inputs: Any  # (S, N, D)
    lower: Any  # (S, N, H): the cells of the layer below; `None` without one
    #: h and c before the first token, (S, B, H) each; zero if `None`. They take the place of the
    #: packing's first step, whose inputs are not read; the gradients of its outputs must be zero.
    initial_hidden: Any
    initial_cell: Any


class LayerTables(NamedTuple):
    """The tables that the steps of any backend read and write."""

    sizes: list[int]  # the number of rows of each step
    x: LayerInputs
    parameters: LayerParameters
    #: (S, N, GH), with G = 4 or 5: the gates [i; f; g; o; v]. The forward pass finds in it W x + b
    #: (with peepholes, v also has peephole_lower * lower), the backward pass leaves in it the
    #: gradients of the gates' arguments.
    gates: Tensor
    hidden: Tensor  # (S, N, H): h
    cell: Tensor  # (S, N, H): c

    @property
    def first_step(self) -> int:
        """Return the first step to run: 1 if the rows of step 0 hold the initial states."""
        return 0 if self.x.initial_hidden is None else 1


class LayerGradients(NamedTuple):
    """The gradients of a layer's outputs, and buffers for the gradients of its arguments."""

    hidden: Tensor  # (S, N, H): the incoming gradient of h
    cell: Optional[Tensor]  # (S, N, H): the incoming gradient of c
    #: (S, N, H): to be filled with the gradient of `lower`, without what passes through a peephole.
    lower: Optional[Tensor]
    left_weight: Optional[Tensor]  # (S, 1, H): zeros, to which the gradient is added
    #: (S, B, H): to be filled with the gradient of the initial c.
    initial_cell: Optional[Tensor]
