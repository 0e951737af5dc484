"""Convert texts to the indices of their words."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.files.texts import KNOWS_NO_WORD, note
from allennlp_sentmatch.standalone.splitters import Splitter

PADDING = 0  # the index of padding

PADDING_WORD = "@@PADDING@@"
"""The word at this index of AllenNLP's vocabularies; in a text, it is an ordinary word."""

CACHE_SIZE = 131_072
"""The number of chunks that a `TextIndexer` remembers."""
LONGEST = 100
"""The characters of the longest of them; longer ones could fill the memory of a server."""

Indices = tuple[int, ...]


class TextIndexer:
    """Turns texts into indices in a vocabulary.

    The words of a chunk of text are looked up once; then the chunk's indices are remembered.

    # Parameters

    splitter : `Splitter`
    vocabulary : `Mapping[str, int]`
        The index of each word.
    unknown : `int`
        The index of all other words.
    empty : `int`
        The index of a text without words, and of the word `PADDING_WORD`.
    lowercase : `bool`, optional (default = `False`)
        Whether the vocabulary's words are in lower case.
    max_length : `int`, optional (default = `None`)
        The largest number of words in a text; further words are left out. By default, there is no
        limit.
    """

    def __init__(
        self,
        splitter: Splitter,
        vocabulary: Mapping[str, int],
        unknown: int,
        empty: int,
        lowercase: bool = False,
        max_length: Optional[int] = None,
    ) -> None:
        self.splitter = splitter
        self.vocabulary = vocabulary
        self.unknown = unknown
        self.empty = empty
        self.lowercase = lowercase
        self.max_length = max_length
        # `None` for a chunk that depends on its neighbors.
        self._chunks: dict[str, Optional[Indices]] = {}
        self._vocabulary_size = len(vocabulary)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the remembered chunks: digests of a pickle do not change."""
        kept = {name: value for name, value in self.__dict__.items() if name != "_wordless"}
        return {**kept, "_chunks": {}}

    def indices(self, text: str) -> list[int]:
        """Return the indices of a text's words, at least one, without noting anything."""
        return self._words(text)[: self.max_length] or [self.empty]

    def knows_no_word(self, indices: Sequence[int]) -> bool:
        """Return whether the `indices` are of unknown words, except for punctuation.

        There is at least one unknown word among them.
        """
        return self.unknown in indices and self._wordless.issuperset(indices)

    def unknown_words(self, texts: Iterable[str]) -> Iterator[list[str]]:
        """Return, for each text, the parts between spaces with an unknown or a spelled word.

        A word is spelled if two adjacent word pieces are single non-ASCII characters: the model has
        learned no words of that script.
        """
        # The single non-ASCII characters, and whether each continues a word.
        single = {
            index: word[:2] == "##"
            for word, index in self.vocabulary.items()
            if len(word.removeprefix("##")) == 1 and not word.isascii()
        }
        for text in texts:
            found = []
            for part in text.split():
                indices = self.indices(part)
                pairs = zip(indices, indices[1:])
                is_spelled = any(a in single and single.get(b) for a, b in pairs)
                if is_spelled or self.unknown in indices:
                    found.append(part)
            yield found

    def rows(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the indices of the words of texts; texts that are cut, or unknown, are noted."""
        rows: list[list[int]] = []
        # The vocabulary of a model may have been extended.
        if self._vocabulary_size != len(self.vocabulary):
            self._vocabulary_size = len(self.vocabulary)
            self._chunks.clear()
            self.__dict__.pop("_wordless", None)
        for text in texts:
            indices = self._words(text)
            if self.max_length is not None and len(indices) > self.max_length:
                del indices[self.max_length :]
                note(
                    f"only the first {self.max_length} words or word pieces were encoded of {{}}; "
                    "divide long texts into sentences",
                    text,
                )
            if not indices or self.knows_no_word(indices):
                note(KNOWS_NO_WORD, text)
            rows.append(indices or [self.empty])
        return rows

    @cached_property
    def _wordless(self) -> set[int]:
        """The indices of unknown words and of punctuation."""
        words = self.vocabulary.items()
        wordless = {index for word, index in words if not any(map(str.isalnum, word))}
        return wordless | {self.unknown, self.empty}

    def _words(self, text: str) -> list[int]:
        """Return the indices of all words of a text."""
        indices: list[int] = []
        for piece in self.splitter.pieces(text):
            indices += self._piece(piece)
        return indices

    def _piece(self, piece: str) -> list[int]:
        """Return the indices of the words in a piece, whose chunks are remembered."""
        indices: list[int] = []
        chunks = self._chunks
        for chunk in piece.split():
            try:
                found = chunks[chunk]
            except KeyError:
                words = self.splitter.words_of_chunk(chunk)
                found = None if words is None else self._look_up(words)
                if len(chunks) < CACHE_SIZE and len(chunk) <= LONGEST:
                    chunks[chunk] = found
            if found is None:
                return list(self._look_up(self.splitter.words_in_context(piece)))
            indices += found
        return indices

    def _look_up(self, words: Sequence[str]) -> Indices:
        """Return the indices of words, in lower case if the vocabulary is."""
        indices = []
        for word in words:
            known = word.lower() if self.lowercase else word
            index = self.vocabulary.get(known, self.unknown)
            indices.append(self.empty if word == PADDING_WORD else index)
        return tuple(indices)


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Return the indices of B texts, at least one, as a tensor (B, T), padded with `PADDING`.

    T is the number of words in the longest text. The tensor is int64, on the CPU.
    """
    width = max(map(len, rows))
    flat = array("q")
    for row in rows:
        flat.extend(row)
        flat.extend([PADDING] * (width - len(row)))
    return torch.frombuffer(flat, dtype=torch.long).view(len(rows), width)
