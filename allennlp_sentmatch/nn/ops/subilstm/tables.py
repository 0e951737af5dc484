"""The tables that the backward pass of SuBiLSTM's recurrence needs."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torch import Tensor

from allennlp_sentmatch.nn.ops.subilstm.schedule import Step


class SuffixTables(NamedTuple):
    """The values that a backward pass needs, of all steps of a chunk or of one step."""

    hidden: Tensor  # (S, rows, H): h before the step
    gates: Tensor  # (S, rows, GH)
    kept: tuple[Tensor, ...]  # (S, rows, H) each: `num_kept` other values of the cell

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All tensors, in the order that `split` expects."""
        return (self.hidden, self.gates, *self.kept)

    @staticmethod
    def num_bytes(like: Tensor, num_gates: int, num_kept: int, num_rows: int) -> int:
        """Count the bytes of tables of so many rows in the directions of `like`, (S, T, B, GH)."""
        GH = like.size(-1)
        numbers = GH + (1 + num_kept) * (GH // num_gates)  # of a row
        return like.size(0) * num_rows * numbers * like.element_size()

    @classmethod
    def empty(cls, like: Tensor, num_gates: int, num_kept: int, num_rows: int) -> "SuffixTables":
        """Return new tables; the parameters are those of `num_bytes`."""
        S, GH = like.size(0), like.size(-1)
        H = GH // num_gates
        hidden, gates, *kept = (
            like.new_empty(S, num_rows, width) for width in [H, GH] + [H] * num_kept
        )
        return cls(hidden, gates, tuple(kept))

    def rows(self, num_rows: int) -> "SuffixTables":
        """Slice the tables to their first rows."""
        return SuffixTables(
            self.hidden[:, :num_rows],
            self.gates[:, :num_rows],
            tuple(table[:, :num_rows] for table in self.kept),
        )

    @classmethod
    def split(cls, tensors: Sequence[Tensor], num_kept: int) -> "list[SuffixTables]":
        """Return the tables of several chunks from a sequence of their `tensors`."""

        def chunks() -> Iterator[SuffixTables]:
            for start in range(0, len(tensors), 2 + num_kept):
                hidden, gates, *kept = tensors[start : start + 2 + num_kept]
                yield cls(hidden, gates, tuple(kept))

        return list(chunks())

    def at(self, step: Step) -> "SuffixTables":
        """Slice the tables of a chunk to those of a step, (S, suffixes, sentences, ...) each."""
        return SuffixTables(
            step.of_table(self.hidden),
            step.of_table(self.gates),
            tuple(step.of_table(table) for table in self.kept),
        )
