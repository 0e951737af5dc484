"""The order in which suffixes advance: at each step, by the same token of several sentences."""

from typing import NamedTuple

from torch import Tensor

#: The approximate number of rows of the steps that share tables, and one product for the gradient
#: of each weight. Larger tables would be new memory from the system, page by page, each time.
ROWS_PER_CHUNK = 512


class Step(NamedTuple):
    """`suffixes` suffixes, from `first` on, of `sentences` sentences advance by token `t`."""

    t: int
    first: int
    suffixes: int
    sentences: int
    #: The step's first row in the tables of its chunk.
    offset: int

    @property
    def num_rows(self) -> int:
        """The number of rows of the step's products, one for each suffix of each sentence."""
        return self.suffixes * self.sentences

    def of_states(self, states: Tensor) -> Tensor:
        """Slice all states, (S, num_starts, B, H), to (S, suffixes, sentences, H)."""
        return states[:, self.first : self.first + self.suffixes, : self.sentences]

    def of_table(self, table: Tensor) -> Tensor:
        """Slice the chunk's table, (S, rows, ...), to (S, suffixes, sentences, ...)."""
        rows = table[:, self.offset : self.offset + self.num_rows]
        return rows.view(len(table), self.suffixes, self.sentences, -1)


class Schedule(NamedTuple):
    """The steps of a batch."""

    #: The first tokens of all suffixes.
    beginning: Step
    #: The steps after the beginning. A step may be without suffixes.
    chunks: list[list[Step]]

    @classmethod
    def of(cls, batch_size: int, sizes: list[int], window: int, num_starts: int) -> "Schedule":
        """Schedule the steps; the parameters are those of `recurrence`.

        The beginning takes all `batch_size` sentences, the empty ones included: its tables are then
        as large as the states.
        """
        chunks: list[list[Step]] = []
        offset = ROWS_PER_CHUNK
        for t, sentences in enumerate(sizes):
            if offset >= ROWS_PER_CHUNK:
                chunks.append([])
                offset = 0
            first = max(0, t + 1 - window)
            step = Step(t, first, min(t, num_starts) - first, sentences, offset)
            chunks[-1].append(step)
            offset += step.num_rows
        return cls(Step(0, 0, num_starts, batch_size, 0), chunks)

    @property
    def num_starts(self) -> int:
        """The number of suffixes."""
        return self.beginning.suffixes

    @property
    def steps(self) -> list[Step]:
        """All steps, the beginning first."""
        return [self.beginning, *(step for chunk in self.chunks for step in chunk)]
