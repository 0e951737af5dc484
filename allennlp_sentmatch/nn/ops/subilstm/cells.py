"""The cells of SuBiLSTM: a step of many suffixes, and its derivative.

In each of S directions, R suffixes of N sentences advance by a token: states are (S, R, N, H).
`eager_cells.py` and `cpu_cells.py` have the cells of the backends.
"""

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend
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
    max_rows : `int`
        The largest number of rows that advance together; by default, all rows of a step do.
    """

    num_gates: int
    num_states: int
    max_rows: int = sys.maxsize

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
        """Turn the gradients of the new states into the gradients of the old states, without the
        part through U h.

        Fill the step's rows of `grad_gates`.
        """
        raise NotImplementedError

    @staticmethod
    def to_gradient_of_product(grad_gates: Tensor, gates: Tensor) -> None:
        """Turn the gradient of W x + b into the gradient of U h, in place.

        Both are (S, suffixes, sentences, GH), as are the `gates`. For an LSTM, they are equal.
        """
