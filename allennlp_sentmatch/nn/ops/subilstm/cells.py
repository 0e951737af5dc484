"""The cells of SuBiLSTM: a step of many suffixes, and its derivative, by each backend.

In each of S directions, R suffixes of N sentences advance by a token: states are (S, R, N, H). The
eager cells are operations of torch. The native ones are compiled for CPUs: one pass over memory per
step, apart from the product.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.common.activations import (
    sigmoid_backward,
    sigmoid_to_tanh,
    tanh_backward,
)
from allennlp_sentmatch.nn.ops.common.gated_steps import GatedStep
from allennlp_sentmatch.nn.ops.common.native import Rows
from allennlp_sentmatch.nn.ops.subilstm.schedule import Step


class SuffixTables(NamedTuple):
    """The values that a backward pass needs, of all steps of a chunk or of one step.

    # Attributes

    states : `Tensor`
        The states before the step, (num_states, S, rows, H).
    gates : `Tensor`
        (S, rows, GH)
    kept : `Tensor`
        Another value of the cell, (S, rows, H).
    """

    states: Tensor
    gates: Tensor
    kept: Tensor

    def rows(self, num_rows: int) -> "SuffixTables":
        """Slice the tables to their first rows."""
        return SuffixTables(*(table[..., :num_rows, :] for table in self))

    def at(self, step: Step) -> "SuffixTables":
        """Slice the tables of a chunk to a step's, (..., suffixes, sentences, width)."""
        return SuffixTables(*map(step.of_table, self))


class Cell:
    """A backend's cell, which advances suffixes or goes back.

    `states` (num_states, S, num_starts, B, H) are the states of all suffixes, h first, which steps
    overwrite. `projected` (S, T, B, GH) is W x + b, and `weights` are the U (GH, H) of the
    directions. When going back, `states` are the gradients, and the other arguments are left out.

    # Attributes

    num_gates : `int`
        G: 4 for an LSTM and 3 for a GRU.
    num_states : `int`
        2 for an LSTM and 1 for a GRU.
    max_rows : `Optional[int]`
        The number of rows that advance together; all rows of a step if `None`.
    """

    num_gates: int
    num_states: int
    max_rows: Optional[int] = None

    def __init__(
        self,
        backend: Backend,
        states: Tensor,
        projected: Optional[Tensor] = None,
        weights: Sequence[Tensor] = (),
    ) -> None:
        self._backend = backend
        self.states = states
        # `None` if a pass does not need them
        self._projected: Any = projected
        self._tables: Any = None
        self._grad_gates: Any = None
        self._prepare(weights)

    def _prepare(self, weights: Sequence[Tensor]) -> None:
        """Make the values that all steps need from the U (GH, H) of the directions, if any."""
        raise NotImplementedError

    @classmethod
    def of(
        cls,
        backend: Backend,
        projected: Tensor,
        weights: Sequence[Tensor],
        num_starts: int,
    ) -> "Cell":
        """Return a cell whose states are zero; the arguments are as for the class.

        `num_starts` is the number of suffixes of a sentence.
        """
        S, _, B, GH = projected.shape
        H = GH // cls.num_gates
        states = projected.new_zeros(cls.num_states, S, num_starts, B, H)
        return cls(backend, states, projected, weights)

    def new_tables(self, num_rows: int) -> SuffixTables:
        """Return tables of this many rows, without values, and take them as by `bind`."""
        _, S, _, _, H = self.states.shape
        new = self.states.new_empty
        tables = SuffixTables(
            states=new(self.num_states, S, num_rows, H),
            gates=new(S, num_rows, self.num_gates * H),
            kept=new(S, num_rows, H),
        )
        self.bind(tables)
        return tables

    def bind(self, tables: SuffixTables, grad_gates: Optional[Tensor] = None) -> None:
        """Take the tables of the next steps' chunk.

        To go back, also take a buffer (S, rows, GH) for the gradient of W x + b in each row.
        """
        self._tables = tables
        self._grad_gates = grad_gates

    def advance(self, step: Step) -> None:
        """Advance the states of the step's suffixes by its token.

        Fill the step's rows of the tables, if there are any.
        """
        raise NotImplementedError

    def retreat(self, step: Step) -> None:
        """Turn the gradients of the new states into the old states', without the part through U h.

        Fill the step's rows of `grad_gates`.
        """
        raise NotImplementedError

    @staticmethod
    def to_gradient_of_product(grad_gates: Tensor, gates: Tensor) -> None:
        """Turn the gradient of W x + b into the gradient of U h, in place.

        Both are (S, suffixes, sentences, GH), as are the `gates`. An LSTM's are equal.
        """


class _EagerCell(Cell):
    """A cell whose steps are operations of torch, in place.

    A step is three parts: `_begin`, a product that adds U h to the gates, and `_finish`.
    """

    def _prepare(self, weights: Sequence[Tensor]) -> None:
        if weights:
            self._weights = self._backend.products.side_by_side(weights)

    def advance(self, step: Step) -> None:
        if not step.suffixes:
            return
        states = step.of_states(self.states)
        x = step.of_tokens(self._projected)
        kept: Optional[Tensor] = None
        if self._tables is None:
            old = states
            gates = x.new_empty(*states.shape[1:4], x.size(-1))
        else:
            old, gates, kept = self._tables.at(step)
            old.copy_(states)
        self._begin(x, gates)
        if not step.begins:
            rows = gates.flatten(1, 2)  # a view
            old_hidden = old[0].flatten(1, 2)  # (S, rows, H)
            self._backend.products.add_products(rows, old_hidden, self._weights)
        self._finish(x, gates, states, kept)

    def _begin(self, x: Tensor, gates: Tensor) -> None:
        """Fill the gates (S, R, N, GH) with the values to which U h is added.

        `x` is W x + b, of the same shape, or (S, 1, N, GH) if the suffixes share the token.
        """
        raise NotImplementedError

    def _finish(
        self,
        x: Tensor,
        gates: Tensor,
        states: Tensor,
        kept: Optional[Tensor],
    ) -> None:
        """Compute the gates and the new states (num_states, S, R, N, H), in place.

        Write the value that `retreat` needs to `kept` (S, R, N, H), if there is such a table.
        """
        raise NotImplementedError


class EagerLSTMCell(_EagerCell):
    """c' = f * c + i * g and h' = o * tanh(c').

    The states are h and c, and the blocks i, f, g, o. It keeps tanh(c').
    """

    num_gates = 4
    num_states = 2

    def _prepare(self, weights: Sequence[Tensor]) -> None:
        H = self.states.size(-1)
        self._scale = self.states.new_ones(4 * H)
        self._scale[2 * H : 3 * H] = 2  # for `sigmoid_to_tanh`
        super()._prepare([weight * self._scale.unsqueeze(1) for weight in weights])

    def _begin(self, x: Tensor, gates: Tensor) -> None:
        torch.mul(x.expand_as(gates), self._scale, out=gates)

    def _finish(
        self,
        x: Tensor,
        gates: Tensor,
        states: Tensor,
        kept: Optional[Tensor],
    ) -> None:
        hidden, cell = states
        i, f, g, o = gates.sigmoid_().chunk(4, -1)
        sigmoid_to_tanh(g)
        cell.mul_(f).addcmul_(i, g)
        tanh_cell = self._backend.tanh(cell, out=kept)
        torch.mul(o, tanh_cell, out=hidden)

    def retreat(self, step: Step) -> None:
        grad_hidden, grad_cell = step.of_states(self.states)
        (_, old_cell), gates, tanh_cell = self._tables.at(step)
        i, f, g, o = gates.chunk(4, -1)
        out = step.of_table(self._grad_gates)
        out_i, out_f, out_g, out_o = out.chunk(4, -1)
        sigmoid_backward(tanh_cell, o, out_o)
        out_o.mul_(grad_hidden)
        grad_cell.addcmul_(grad_hidden, tanh_backward(o, tanh_cell))
        sigmoid_backward(g, i, out_i)
        sigmoid_backward(old_cell, f, out_f)
        tanh_backward(i, g, out_g)
        of_cell = out[..., : 3 * o.size(-1)]  # i, f and g
        by_gate = of_cell.unflatten(-1, (3, -1))
        by_gate.mul_(grad_cell.unsqueeze(-2))
        grad_cell.mul_(f)
        grad_hidden.zero_()


class EagerGRUCell(_EagerCell):
    """n = tanh(x_n + r * u_n) and h' = (1 - z) * n + z * h.

    The state is h, and the blocks r, z, n. It keeps n, and the gates have u_n in its block.
    """

    num_gates = 3
    num_states = 1

    def _begin(self, x: Tensor, gates: Tensor) -> None:
        gates.zero_()

    def _finish(
        self,
        x: Tensor,
        gates: Tensor,
        states: Tensor,
        kept: Optional[Tensor],
    ) -> None:
        (hidden,) = states
        H = hidden.size(-1)
        x_gates, x_n = x.split([2 * H, H], -1)
        gates[..., : 2 * H].add_(x_gates).sigmoid_()
        r, z, u_n = gates.chunk(3, -1)
        n = torch.addcmul(x_n, r, u_n, out=kept)
        n = self._backend.tanh(n, out=n)
        torch.lerp(n, hidden, z, out=hidden)

    def retreat(self, step: Step) -> None:
        (grad_hidden,) = step.of_states(self.states)
        (old_hidden,), gates, n = self._tables.at(step)
        r, z, u_n = gates.chunk(3, -1)
        out = step.of_table(self._grad_gates)
        out_r, out_z, out_n = out.chunk(3, -1)
        grad_z = grad_hidden * (old_hidden - n)
        grad_n = grad_hidden - grad_hidden * z
        sigmoid_backward(grad_z, z, out_z)
        tanh_backward(grad_n, n, out_n)
        sigmoid_backward(out_n * u_n, r, out_r)
        grad_hidden *= z

    @staticmethod
    def to_gradient_of_product(grad_gates: Tensor, gates: Tensor) -> None:
        r, _, _ = gates.chunk(3, -1)
        _, _, grad_n = grad_gates.chunk(3, -1)
        grad_n.mul_(r)


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


#: By the names of a backend and of a cell.
CELLS: dict[tuple[str, str], type[Cell]] = {
    ("eager", "lstm"): EagerLSTMCell,
    ("eager", "gru"): EagerGRUCell,
    ("cpu", "lstm"): NativeLSTMCell,
    ("cpu", "gru"): NativeGRUCell,
}
