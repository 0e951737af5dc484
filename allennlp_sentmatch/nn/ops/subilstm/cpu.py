"""SuBiLSTM's cells compiled for CPUs: one pass over memory per step, apart from the product."""

from collections.abc import Sequence
from typing import Optional

from torch import Tensor

from allennlp_sentmatch.nn.ops.common.gated_steps import GatedStep
from allennlp_sentmatch.nn.ops.common.native import Rows
from allennlp_sentmatch.nn.ops.subilstm.eager import GRUCell
from allennlp_sentmatch.nn.ops.subilstm.schedule import Step
from allennlp_sentmatch.nn.ops.subilstm.steps import Cell, SuffixTables


class NativeCell(Cell):
    """A cell whose tables are checked when it takes them, not at each step.

    A step that lies outside the tables raises `IndexError`.
    """

    #: A product of this many rows is as fast as a larger one, and its result is still in the
    #: processor's caches for the next pass. Larger results would need new memory from the system.
    max_rows = 1024
    #: The compiled step and its derivative.
    functions: tuple[str, str]
    #: The fields of the states and of the states' gradients, and their indices in `states`.
    names_of_states: dict[str, int]
    names_of_gradients: dict[str, int]

    def _prepare(self, weights: Sequence[Tensor]) -> None:
        states = self.states
        projected = self._projected
        _, _, R, B, H = states.shape
        GH = self._width = self.num_gates * H
        self._weights = [self._backend.products.prepacked(weight) for weight in weights]
        self._arguments = GatedStep(
            states, H=H, state_step=B * H, recurrent_width=GH, zeros=states.new_zeros(GH)
        )
        names = self.names_of_gradients if projected is None else self.names_of_states
        self._states = {name: Rows.of(states[k], states) for name, k in names.items()}
        self._x = Rows.of(projected, states)
        self._rows: dict[str, Rows] = {}
        self._sizes = (0 if projected is None else projected.size(1), R, B, 0)

    def bind(self, tables: SuffixTables, grad_gates: Optional[Tensor] = None) -> None:
        super().bind(tables, grad_gates)
        self._sizes = (*self._sizes[:3], tables.gates.size(1))
        rows = {"gates": tables.gates, "grad_gates": grad_gates, "kept": tables.kept}
        self._rows = {name: Rows.of(x, self.states) for name, x in rows.items()}

    def advance(self, step: Step) -> None:
        linear = self._backend.products.linear
        hidden = self.states[0]
        for part in step.split(self.max_rows):
            self._begin(part, self._sizes[0])
            rows = part.of_states(hidden)  # (S, R, N, H)
            if self._tables is not None:
                rows = part.of_table(self._tables.states[0]).copy_(rows)
            for s, rows_s in enumerate(rows.unbind(0)):
                # The product is still in the caches when the compiled step reads it.
                u = None if part.begins else linear(rows_s.flatten(0, 1), self._weights[s])
                self._run(self.functions[0], s, part, u)

    def retreat(self, step: Step) -> None:
        self._begin(step, step.tokens[1])
        for s in range(self.states.size(1)):
            self._run(self.functions[1], s, step, None)

    def _begin(self, step: Step, num_tokens: int) -> None:
        """Check that a step lies within its tables, and set its sizes."""
        _, num_starts, B, num_rows = self._sizes
        t, first, R, N, offset = step
        if (
            not (0 <= t < num_tokens and step.tokens[1] <= num_tokens)
            or not (0 <= first <= first + R <= num_starts and 0 <= N <= B)
            or (self._tables is not None and not 0 <= offset <= offset + R * N <= num_rows)
        ):
            raise IndexError(f"{step} is not within its tables")
        self._arguments.n = R * N
        self._arguments.block = N
        self._arguments.x_step = B * self._width if step.begins else 0

    def _run(self, function: str, s: int, step: Step, u: Optional[Tensor]) -> None:
        """Run a compiled step of direction `s`, with U h, (rows, GH), as `u`, or zero."""
        arguments = self._arguments
        B = self._sizes[2]
        arguments.x = self._x.at(s, step.tokens[0] * B)
        arguments.set(recurrent=u)
        arguments.point(self._states, s, step.first * B)
        arguments.point(self._rows, s, step.offset)
        arguments.run(function)


class NativeLSTMCell(NativeCell):
    """An LSTM's cell."""

    num_gates = 4
    num_states = 2
    functions = ("lstm_forward", "lstm_backward")
    names_of_states = {"hidden": 0, "cell": 1, "left": 1}
    names_of_gradients = {"grad_hidden": 0, "carried": 1}

    def bind(self, tables: SuffixTables, grad_gates: Optional[Tensor] = None) -> None:
        super().bind(tables, grad_gates)
        self._rows["kept_left"] = Rows.of(tables.states[1], self.states)


class NativeGRUCell(NativeCell):
    """A GRU's cell; it keeps u_n, and the gates have n in its block."""

    num_gates = 3
    num_states = 1
    functions = ("gru_forward", "gru_backward")
    names_of_states = {"hidden": 0, "left": 0}
    names_of_gradients = {"carried": 0}
    to_gradient_of_product = staticmethod(GRUCell.to_gradient_of_product)

    def bind(self, tables: SuffixTables, grad_gates: Optional[Tensor] = None) -> None:
        super().bind(tables, grad_gates)
        if grad_gates is not None:
            self._rows["left"] = Rows.of(tables.states[0], self.states)
