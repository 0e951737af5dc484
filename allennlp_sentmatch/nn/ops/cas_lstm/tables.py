"""The tables of a layer of an LSTM or a CAS-LSTM, and of its backward pass.

Tables of N tokens in S directions have a row for each token, step by step as in `Packing`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from torch import Tensor

from allennlp_sentmatch.nn.ops.common.packing import Packing


class LayerParameters(NamedTuple):
    """The parameters of a layer of H units in S directions, with G = 4 or 5 gates.

    # Attributes

    weight_ih : `Sequence[Tensor]`
        (GH, D) for each direction; not stacked, to avoid a copy.
    weight_hh : `Sequence[Tensor]`
        (R, H) for each direction. R is 4H with peepholes, and otherwise GH.
    bias : `Tensor`
        (S, GH)
    left_weight : `Union[float, Tensor]`
        The factor of the left cell: a number, or (S, 1, H).
    peephole_left, peephole_lower : `Optional[Tensor]`
        (S, 1, H)
    """

    weight_ih: Sequence[Any]
    weight_hh: Sequence[Any]
    bias: Any
    left_weight: Any
    peephole_left: Any
    peephole_lower: Any


class LayerInputs(NamedTuple):
    """The inputs of a layer of H units over N tokens of B sentences in S directions.

    # Attributes

    inputs : `Tensor`
        (S, N, D)
    lower : `Optional[Tensor]`
        The weighted cells of the layer below, (S, N, H); `None` without one.
    initial : `Optional[Tensor]`
        h and c before the first token, (2, S, B, H); zero if `None`. They take the place of the
        packing's first step, whose inputs are not used; the gradients of its outputs must be zero.
    """

    inputs: Any
    lower: Any
    initial: Any


class LayerTables(NamedTuple):
    """The tables that the steps read and write.

    # Attributes

    packing : `Packing`
    x : `LayerInputs`
    parameters : `LayerParameters`
    gates : `Tensor`
        The gates [i; f; g; o; v], (S, N, GH). The forward pass finds in it W x + b (with peepholes,
        v also has peephole_lower * lower), and the backward pass leaves in it the gradients of the
        gates' arguments.
    hidden, cell : `Tensor`
        h and c, (S, N, H) each.
    """

    packing: Packing
    x: LayerInputs
    parameters: LayerParameters
    gates: Tensor
    hidden: Tensor
    cell: Tensor

    @property
    def sizes(self) -> list[int]:
        """Return the number of rows of each step."""
        return self.packing.sizes

    @property
    def first_step(self) -> int:
        """Return the first step to run: 1 if the rows of step 0 hold the initial states."""
        return 0 if self.x.initial is None else 1

    @property
    def first_row(self) -> int:
        """Return the first row of the first step to run."""
        return 0 if self.x.initial is None else self.packing.num_sentences

    @property
    def recurrent_width(self) -> int:
        """Return R, the number of columns of the gates to which U h is added."""
        rows: int = self.parameters.weight_hh[0].size(0)
        return rows


class LayerGradients(NamedTuple):
    """The gradients of a layer's outputs, and buffers for the gradients of its arguments.

    A buffer is `None` if its gradient is not needed.

    # Attributes

    hidden : `Tensor`
        The incoming gradient of h, (S, N, H).
    cell : `Optional[Tensor]`
        The incoming gradient of c, (S, N, H), if there is one.
    lower : `Optional[Tensor]`
        A buffer (S, N, H) for the gradient of `LayerInputs.lower`, without what passes through a
        peephole.
    left_weight : `Optional[Tensor]`
        Zeros (S, 1, H), to which the gradient is added.
    initial_cell : `Optional[Tensor]`
        A buffer (S, B, H) for the gradient of c before the first token.
    """

    hidden: Tensor
    cell: Optional[Tensor]
    lower: Optional[Tensor]
    left_weight: Optional[Tensor]
    initial_cell: Optional[Tensor]
