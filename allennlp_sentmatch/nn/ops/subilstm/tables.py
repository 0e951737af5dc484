"""The tables that the backward pass of SuBiLSTM's recurrence needs."""

from typing import NamedTuple

from torch import Tensor

from allennlp_sentmatch.nn.ops.subilstm.schedule import Step


class SuffixTables(NamedTuple):
    """The values that a backward pass needs, of all steps of a chunk or of one step."""

    states: Tensor  # (number of states, S, rows, H): before the step
    gates: Tensor  # (S, rows, GH)
    kept: Tensor  # (S, rows, H): another value of the cell

    @staticmethod
    def num_bytes(like: Tensor, num_gates: int, num_states: int, num_rows: int) -> int:
        """Count the bytes of tables of so many rows in the directions of `like`, (S, T, B, GH)."""
        GH = like.size(-1)
        numbers = GH + (num_states + 1) * (GH // num_gates)  # of a row
        return like.size(0) * num_rows * numbers * like.element_size()

    @classmethod
    def empty(cls, like: Tensor, num_gates: int, num_states: int, num_rows: int) -> "SuffixTables":
        """Return new tables; the parameters are those of `num_bytes`."""
        S, GH = like.size(0), like.size(-1)
        rows = (S, num_rows, GH // num_gates)
        return cls(
            like.new_empty(num_states, *rows),
            like.new_empty(S, num_rows, GH),
            like.new_empty(rows),
        )

    def rows(self, num_rows: int) -> "SuffixTables":
        """Slice the tables to their first rows."""
        return SuffixTables(*(table[..., :num_rows, :] for table in self))

    def at(self, step: Step) -> "SuffixTables":
        """Slice the tables of a chunk to those of a step, (..., suffixes, sentences, width)."""
        return SuffixTables(*map(step.of_table, self))
