"""The order in which suffixes advance: at each step, by the same token of several sentences."""

import math
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from torch import Tensor

#: The approximate number of rows of the steps that share tables, and one product for the gradient
#: of each weight. Larger tables would need new memory from the system each time.
ROWS_PER_CHUNK = 512


class Step(NamedTuple):
    """`suffixes` suffixes, from `first` on, of `sentences` sentences advance by token `t`.

    `offset` is the step's first row in the tables of its chunk.
    """

    t: int
    first: int
    suffixes: int
    sentences: int
    offset: int

    @property
    def num_rows(self) -> int:
        """Return the number of rows of the step's products: one for each suffix of a sentence."""
        return self.suffixes * self.sentences

    def of_states(self, states: Tensor) -> Tensor:
        """Slice all states, (S, num_starts, B, H), to (S, suffixes, sentences, H)."""
        end = self.first + self.suffixes
        return states[..., self.first : end, : self.sentences, :]

    def of_table(self, table: Tensor) -> Tensor:
        """Slice the chunk's table, (..., rows, width), to (..., suffixes, sentences, width)."""
        end = self.offset + self.num_rows
        rows = table[..., self.offset : end, :]
        return rows.view(*table.shape[:-2], self.suffixes, self.sentences, -1)

    def of_tokens(self, projected: Tensor) -> Tensor:
        """Slice W x + b (S, T, B, GH) to the tokens that the suffixes read.

        The result is (S, suffixes, sentences, GH) at the beginning, and (S, 1, sentences, GH)
        later.
        """
        first, last = self.tokens
        return projected[:, first:last, : self.sentences]

    @property
    def begins(self) -> bool:
        """Return whether each suffix advances by its own first token."""
        return self.t == 0

    @property
    def tokens(self) -> tuple[int, int]:
        """Return the first token that the suffixes read, and the end of these tokens.

        At the beginning, each suffix reads its own first token; later, all of them read token `t`.
        """
        if self.begins:
            return self.first, self.first + self.suffixes
        return self.t, self.t + 1

    def split(self, max_rows: int) -> "Iterator[Step]":
        """Split the step into steps of at most `max_rows` rows, or of one suffix.

        A step without suffixes is split into none.
        """
        together = max(1, max_rows // self.sentences)
        if 0 < self.suffixes <= together:
            yield self
            return
        for i in range(0, self.suffixes, together):
            left = self.suffixes - i
            yield self._replace(
                first=self.first + i,
                suffixes=min(together, left),
                offset=self.offset + i * self.sentences,
            )


class Schedule(NamedTuple):
    """The steps of a batch.

    `beginning` is the step of all suffixes' first tokens, and `chunks` are the steps after it,
    which may be without suffixes.
    """

    beginning: Step
    chunks: list[list[Step]]

    @classmethod
    def of(
        cls,
        batch_size: int,
        sizes: list[int],
        window: int,
        num_starts: int,
    ) -> "Schedule":
        """Schedule the steps; the parameters are as in `suffix_recurrence`.

        The beginning takes all `batch_size` sentences: its tables are as large as the states.
        """
        steps = []
        for t, sentences in enumerate(sizes):
            first = max(0, t + 1 - window)
            end = min(t, num_starts)
            steps.append(Step(t, first, end - first, sentences, offset=0))
        beginning = Step(0, 0, num_starts, batch_size, offset=0)
        return cls(beginning, _chunks(steps, ROWS_PER_CHUNK))

    def for_recomputation(self) -> "Schedule":
        """Regroup the steps so that a chunk's tables and the states before all chunks are small.

        A chunk of c rows needs about 11 numbers a row and unit in its tables; for the states before
        the chunks, a step of r rows needs 2 r * r / c in a direction. The sum is smallest if both
        are equal.
        """
        steps = self.steps[1:]
        squares = sum(step.num_rows**2 for step in steps)
        best = math.sqrt(4 / 11 * squares)
        rows_per_chunk = max(ROWS_PER_CHUNK, int(best))
        return self._replace(chunks=_chunks(steps, rows_per_chunk))

    @property
    def num_starts(self) -> int:
        """Return the number of suffixes."""
        return self.beginning.suffixes

    @property
    def steps(self) -> list[Step]:
        """Return all steps, the beginning first."""
        return [self.beginning, *chain.from_iterable(self.chunks)]

    @property
    def num_rows(self) -> int:
        """Return the number of rows of the tables of all steps."""
        return sum(step.num_rows for step in self.steps)


def num_rows(chunk: list[Step]) -> int:
    """Count the rows of a chunk's tables."""
    last = chunk[-1]
    return last.offset + last.num_rows


def of_chunk(chunk: list[Step], states: Tensor) -> Tensor:
    """Slice all states, (..., num_starts, B, H), to those that the steps of a chunk advance.

    They are the suffixes of all steps, and the sentences of the first one, which has most.
    """
    first = chunk[0].first
    end = max(step.first + step.suffixes for step in chunk)
    return states[..., first:end, : chunk[0].sentences, :]


def _chunks(steps: list[Step], rows_per_chunk: int) -> list[list[Step]]:
    """Group steps until they have this many rows, and set each step's `offset` in its group.

    Only a group's last step may exceed the number.
    """
    chunks: list[list[Step]] = []
    offset = rows_per_chunk
    for step in steps:
        if offset >= rows_per_chunk:
            chunks.append([])
            offset = 0
        chunks[-1].append(step._replace(offset=offset))
        offset += step.num_rows
    return chunks
