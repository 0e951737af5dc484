"""The cells of SuBiLSTM, compiled for CPUs.

A step is one pass over memory, apart from the product.
"""

from collections.abc import Sequence
from typing import Optional

from torch import Tensor

from allennlp_sentmatch.nn.ops.common.gated_steps import GatedStep
from allennlp_sentmatch.nn.ops.common.native import Rows
from allennlp_sentmatch.nn.ops.subilstm.cells import Cell, SuffixTables
from allennlp_sentmatch.nn.ops.subilstm.eager_cells import EagerGRUCell
from allennlp_sentmatch.nn.ops.subilstm.schedule import Step


class NativeCell(Cell):
    """A cell whose tables are checked when it takes them, not at each step.

    A step that lies outside the tables raises `IndexError`.

    # Attributes

    step_function, derivative : `str`
        The names of the compiled step and of its derivative.
    names_of_states, names_of_gradients : `dict[str, int]`
        The fields of `GatedStep` for the states and for the states' gradients, each with its index
        in `states`.
    """

    #: A product of this many rows is as fast as a larger one, and its result is still in the
    #: processor's caches for the next pass. Larger results would need new memory from the system.
    max_rows = 1024
    step_function: str
    derivative: str
    names_of_states: dict[str, int]
    names_of_gradients: dict[str, int]

    def _prepare(self, weights: Sequence[Tensor]) -> None:
        states = self.states
        *_, B, H = states.shape
        GH = self.num_gates * H
        self._weights = [self._backend.products.prepacked(weight) for weight in weights]
        self._arguments = GatedStep(
            states,
            H=H,
            state_step=B * H,
            recurrent_width=GH,
            zeros=states.new_zeros(GH),
        )
        goes_back = self._projected is None
        names = self.names_of_gradients if goes_back else self.names_of_states
        self._states: dict[str, Rows] = {}
        for name, index in names.items():
            self._states[name] = Rows.of(states[index], states)
        self._x = Rows.of(self._projected, states)
        self._rows: dict[str, Rows] = {}

    def bind(self, tables: SuffixTables, grad_gates: Optional[Tensor] = None) -> None:
        super().bind(tables, grad_gates)
        self._rows = {
            "gates": Rows.of(tables.gates, self.states),
            "grad_gates": Rows.of(grad_gates, self.states),
            "kept": Rows.of(tables.kept, self.states),
        }

    def advance(self, step: Step) -> None:
        hidden = self.states[0]
        for part in step.split(self.max_rows):
            self._begin(part, self._projected.size(1))
            rows = part.of_states(hidden)  # (S, R, N, H)
            if self._tables is not None:
                rows = part.of_table(self._tables.states[0]).copy_(rows)
            for s, rows_s in enumerate(rows.unbind(0)):
                # The product is still in the caches when the compiled step reads it.
                recurrent = None
                if not part.begins:
                    weight = self._weights[s]
                    recurrent = self._backend.products.linear(rows_s.flatten(0, 1), weight)
                self._run(self.step_function, s, part, recurrent)

    def retreat(self, step: Step) -> None:
        self._begin(step, step.tokens[1])
        for s in range(self.states.size(1)):
            self._run(self.derivative, s, step, None)

    def _begin(self, step: Step, num_tokens: int) -> None:
        """Set the sizes of a step.

        `num_tokens` is the number of tokens of W x + b. Raise `IndexError` if the step lies outside
        its tables.
        """
        _, _, num_starts, B, H = self.states.shape
        t, first, R, N, offset = step
        _, end_of_tokens = step.tokens
        has_tokens = 0 <= t < num_tokens and end_of_tokens <= num_tokens
        has_states = 0 <= first <= first + R <= num_starts and 0 <= N <= B
        has_rows = True
        if self._tables is not None:
            num_rows = self._tables.gates.size(1)
            has_rows = 0 <= offset <= offset + R * N <= num_rows
        if not (has_tokens and has_states and has_rows):
            raise IndexError(f"{step} is not within its tables")
        self._arguments.n = R * N
        self._arguments.block = N
        self._arguments.x_step = B * self.num_gates * H if step.begins else 0

    def _run(
        self,
        function: str,
        s: int,
        step: Step,
        recurrent: Optional[Tensor],
    ) -> None:
        """Run a compiled step, or its derivative, of direction `s`.

        `recurrent` is U h, (rows, GH), or `None` for zeros.
        """
        arguments = self._arguments
        B = self.states.size(3)
        first_token, _ = step.tokens
        arguments.x = self._x.at(s, first_token * B)
        arguments.set(recurrent=recurrent)
        arguments.point(self._states, s, step.first * B)
        arguments.point(self._rows, s, step.offset)
        arguments.run(function)


class NativeLSTMCell(NativeCell):
    """An LSTM's cell, as in `EagerLSTMCell`; it keeps tanh(c')."""

    num_gates = 4
    num_states = 2
    step_function = "lstm_forward"
    derivative = "lstm_backward"
    names_of_states = {"hidden": 0, "cell": 1, "left": 1}
    names_of_gradients = {"grad_hidden": 0, "carried": 1}

    def bind(self, tables: SuffixTables, grad_gates: Optional[Tensor] = None) -> None:
        super().bind(tables, grad_gates)
        self._rows["kept_left"] = Rows.of(tables.states[1], self.states)


class NativeGRUCell(NativeCell):
    """A GRU's cell, as in `EagerGRUCell`; it keeps u_n, and the gates have n in its block."""

    num_gates = 3
    num_states = 1
    step_function = "gru_forward"
    derivative = "gru_backward"
    names_of_states = {"hidden": 0, "left": 0}
    names_of_gradients = {"carried": 0}
    to_gradient_of_product = staticmethod(EagerGRUCell.to_gradient_of_product)

    def bind(self, tables: SuffixTables, grad_gates: Optional[Tensor] = None) -> None:
        super().bind(tables, grad_gates)
        if grad_gates is not None:
            self._rows["left"] = Rows.of(tables.states[0], self.states)
