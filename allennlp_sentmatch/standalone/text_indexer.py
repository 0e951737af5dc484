"""From texts to the indices of their words."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Callable, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.standalone.splitters import Splitter

PADDING = 0
"""The index of padding."""

PADDING_WORD = "@@PADDING@@"
"""The word at this index of AllenNLP's vocabularies; in a text, it is a word like others."""

CACHE_SIZE = 1 << 17
"""The number of different chunks of text that a `TextIndexer` remembers."""

Indices = tuple[int, ...]


class TextIndexer:
    """Turns texts into indices in a vocabulary.

    The words of a chunk of text are looked up once; afterwards the chunk's indices are remembered.

    # Parameters

    splitter : `Splitter`
    vocabulary : `Mapping[str, int]`
        The index of each word.
    unknown : `int`
        The index of all other words.
    empty : `int`
        The index of a text without words, and of the word `PADDING_WORD`.
    lowercase : `bool`, optional (default = `False`)
        Whether words are in lower case in the vocabulary.
    max_length : `int`, optional (default = `None`)
        Words of a text past this many are left out.
    on_cut : `Callable[[str, int], object]`, optional (default = `None`)
        Called with a text of which words are left out, and with `max_length`.
    """

    def __init__(
        self,
        splitter: Splitter,
        vocabulary: Mapping[str, int],
        unknown: int,
        empty: int,
        lowercase: bool = False,
        max_length: Optional[int] = None,
        on_cut: Optional[Callable[[str, int], object]] = None,
    ) -> None:
        self.splitter = splitter
        self.vocabulary = vocabulary
        self.unknown = unknown
        self.empty = empty
        self.lowercase = lowercase
        self.max_length = max_length
        self.on_cut = on_cut
        # `None` for a chunk that depends on its neighbors.
        self._chunks: dict[str, Optional[Indices]] = {}

    def indices(self, text: str) -> list[int]:
        """The indices of a text's words, at least one."""
        indices: list[int] = []
        for piece in self.splitter.pieces(text):
            indices += self._piece(piece)
        if self.max_length is not None and len(indices) > self.max_length:
            indices = indices[: self.max_length]
            if self.on_cut is not None:
                self.on_cut(text, self.max_length)
        return indices or [self.empty]

    def _piece(self, piece: str) -> list[int]:
        indices: list[int] = []
        chunks = self._chunks
        for chunk in piece.split():
            try:
                found = chunks[chunk]
            except KeyError:
                words = self.splitter.words_of_chunk(chunk)
                found = None if words is None else self._look_up(words)
                if len(chunks) < CACHE_SIZE:
                    chunks[chunk] = found
            if found is None:
                return list(self._look_up(self.splitter.words_in_context(piece)))
            indices += found
        return indices

    def _look_up(self, words: Sequence[str]) -> Indices:
        return tuple(self._index(word) for word in words)

    def _index(self, word: str) -> int:
        if word == PADDING_WORD:
            return self.empty
        return self.vocabulary.get(word.lower() if self.lowercase else word, self.unknown)


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """The indices of B texts as one tensor (B, T), padded with `PADDING`."""
    width = max(map(len, rows))
    flat = array("q")
    for row in rows:
        flat.extend(row)
        flat.extend([PADDING] * (width - len(row)))
    return torch.frombuffer(flat, dtype=torch.long).view(len(rows), width)
