"""Word vectors in text files, such as GloVe's."""

import re
from collections.abc import Container, Iterator
from typing import Any, Optional

import numpy
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.modules.token_embedders.embedding import EmbeddingsTextFile

from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.row import Source

WordVector = numpy.ndarray[Any, numpy.dtype[numpy.float32]]


def read_word_vectors(
    file_path: AnyPath, words: Optional[Container[str]] = None
) -> Iterator[tuple[str, WordVector]]:
    """Yield the words of a file with their vectors (E,), in its order.

    The text file may be compressed or in an archive, as for AllenNLP's `EmbeddingsTextFile`. It
    has, on each line, a word and its vector, separated by spaces or tabs. A first line of two
    numbers (word2vec's) is skipped. With `words`, other lines are not checked.

    Raise `ConfigurationError`, with file and line, for a malformed line or an empty file.
    """
    size = 0
    for number, line in Tqdm.tqdm(_numbered_lines(file_path), desc="reading word vectors"):
        line = line.rstrip()
        size = size or line.count(" ")
        # Some words of GloVe 840B have spaces in them.
        word, *numbers = line.rsplit(" ", size)
        if words is not None and word not in words:
            continue
        vector = _parsed(numbers)
        if len(vector) != size or size < 2:
            raise ConfigurationError(
                f"{Source(file_path, number)}: expected a word and {size or 'some'} finite "
                f"numbers, separated by spaces, got {line[:40]!r}; is the file whole?"
            )
        yield word, vector


def _parsed(numbers: list[str]) -> WordVector:
    """Return the numbers (E,); none at all if one of them is not a finite number."""
    nothing = numpy.empty(0, numpy.float32)
    try:
        vector = numpy.array(numbers, dtype=numpy.float32)
    except ValueError:
        return nothing
    is_finite = numpy.isfinite(vector).all()
    return vector if is_finite else nothing


def _numbered_lines(file_path: AnyPath) -> Iterator[tuple[int, str]]:
    """Yield the lines of vectors, counted from 1 in the file."""
    number = 0
    try:
        with EmbeddingsTextFile(str(file_path)) as lines:
            first = 2 if lines.num_tokens else 1
            for number, line in enumerate(lines, start=first):
                yield number, line
    except FileNotFoundError:
        raise
    except StopIteration:  # the width of the first line's vector
        raise ConfigurationError(f"{Source(file_path)} is empty: it has no word vectors") from None
    except Exception as error:  # each kind of compression has its own errors
        raise ConfigurationError(
            f"{Source(file_path)} cannot be read after line {number} ({error}); is the file whole, "
            "and its text UTF-8?"
        ) from error


def _read_other_separators() -> None:
    """Let AllenNLP read word vectors with a byte order mark, tabs, or additional spaces. Otherwise
    these become parts of words without a message, also in the vocabulary's `pretrained_files`.
    """
    file: Any = EmbeddingsTextFile
    count = file._get_num_tokens_from_first_line

    def next_line(self: Any) -> str:
        line: str = next(self._iterator).lstrip(" \t")  # in GloVe, no-break spaces are words
        return re.sub("[ \t]+", " ", line) if "\t" in line or "  " in line else line

    file.__init__.__defaults__ = ("utf-8-sig", None)
    file._get_num_tokens_from_first_line = staticmethod(lambda line: count(" ".join(line.split())))
    file.__next__ = next_line


_read_other_separators()
