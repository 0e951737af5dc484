"""The steps of gated cells compiled from C++: an LSTM's, a CAS-LSTM's or a GRU's."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Optional

from torch import Tensor

from allennlp_sentmatch.nn.ops.common.native import Arguments, Rows, fields
from allennlp_sentmatch.nn.ops.common.products import Products


class GatedStep(Arguments):
    """The arguments of a step or of its derivative; native/_gated_steps.cpp describes them.

    A null pointer as a table leaves out the part of the step that needs it, or means zeros.
    """

    _fields_ = fields(
        "n block H x_step state_step recurrent_width num_after",
        "zeros x words recurrent left lower left_weight peephole hidden cell total gates "
        "kept_left kept grad_hidden grad_cell carried grad_gates grad_recurrent grad_lower "
        "grad_left_weight",
    )


class GatedLayer:
    """The steps of a layer over tables of packed sentences, in S directions.

    `sizes` are the numbers of rows of the steps, and `left` (S, N, H) is the table in which a step
    finds the state before it. `of_directions` are fields that are the same for all steps of a
    direction, (S, ..., H) each; `of_tokens` have a row for each token, (S, N, width).
    """

    def __init__(
        self,
        sizes: list[int],
        left: Tensor,
        of_directions: dict[str, Optional[Tensor]],
        **of_tokens: Optional[Tensor],
    ) -> None:
        H = left.size(2)
        self.starts = [0, *accumulate(sizes)]
        self._sizes = sizes
        self._step = GatedStep(left, H=H, zeros=left.new_zeros(5 * H))
        self._left = Rows.of(left, left)
        self._of_directions = {name: Rows.of(x, left) for name, x in of_directions.items()}
        self._of_tokens = {name: Rows.of(x, left) for name, x in of_tokens.items()}
        self._direction: Optional[int] = None  # the number of the last step

    def forward(
        self,
        function: str,
        products: type[Products],
        hidden: Tensor,
        weights: Sequence[Tensor],
        biases: Optional[Sequence[Tensor]] = None,
        first_step: int = 0,
    ) -> None:
        """Run the steps of all directions from `first_step` on, each after the product U h + c.

        `hidden` (S, N, H) is the table of h, which the steps fill. `weights` are the U (R, H) of
        the directions, and `biases` their c (R), by default zero.
        """
        for s, weight_hh in enumerate(weights):
            states = hidden[s]
            weight = products.prepacked(weight_hh)
            bias = None if biases is None else biases[s]
            for t in range(first_step, len(self._sizes)):
                n = self._sizes[t]
                left = None
                recurrent = None
                if t > 0:
                    left = self.starts[t - 1]
                    left_hidden = states[left : left + n]  # (n, H)
                    recurrent = products.linear(left_hidden, weight, bias)  # (n, R)
                elif bias is not None:
                    recurrent = bias.repeat(n, 1)
                self.run(function, s, t, left, recurrent)

    def run(
        self,
        function: str,
        s: int,
        t: int,
        left: Optional[int],
        recurrent: Optional[Tensor],
    ) -> None:
        """Run step `t` of direction `s`.

        `left` is the first row of the states before the step; they are zero if it is `None`.
        `recurrent` is U h (n, R) in the forward pass, where its first columns are used; in the
        backward pass, it has the gradients of h from the next step, for the first sentences. `None`
        means zeros.
        """
        step = self._step
        step.n = step.block = self._sizes[t]
        if s != self._direction:
            self._direction = s
            step.point(self._of_directions, s)
        step.point(self._of_tokens, s, self.starts[t])
        step.left = 0 if left is None else self._left.at(s, left)
        step.set(recurrent=recurrent)
        if recurrent is not None:
            step.num_after, step.recurrent_width = recurrent.shape
        else:
            step.num_after = 0
        step.run(function)
