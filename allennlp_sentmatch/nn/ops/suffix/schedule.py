"""Which suffixes of which sentences read a token together."""

from typing import NamedTuple

import torch

#: Steps are kept together up to about this many rows, of which the weights' gradient is one
#: product. Larger tables would each time be asked of the system, and page by page, anew.
ROWS_PER_CHUNK = 512


class Step(NamedTuple):
    """Token `t` of `sentences` sentences is read by `suffixes` suffixes, from `first` on."""

    t: int
    first: int
    suffixes: int
    sentences: int
    #: Where its rows begin in the tables of its chunk.
    offset: int

    @property
    def num_rows(self) -> int:
        """The rows of its products: one for each suffix of each sentence."""
        return self.suffixes * self.sentences

    def of_states(self, states: torch.Tensor) -> torch.Tensor:
        """Its part of all states: (S, num_starts, B, H) -> (S, suffixes, sentences, H)."""
        return states[:, self.first : self.first + self.suffixes, : self.sentences]

    def of_table(self, table: torch.Tensor) -> torch.Tensor:
        """Its part of its chunk's table: (S, rows, ...) -> (S, suffixes, sentences, ...)."""
        rows = table[:, self.offset : self.offset + self.num_rows]
        return rows.view(len(table), self.suffixes, self.sentences, -1)


def schedule(sizes: list[int], window: int, num_starts: int) -> list[list[Step]]:
    """The steps, in chunks; the arguments are those of `suffix_recurrence`."""
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
    return chunks
