"""Blocks of a file's sentences, each of which can be read without the others."""

import json
import os
from typing import NamedTuple, Optional, Union

import numpy
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.lines import PathOrStr, local_path
from allennlp_sentmatch.data.files.row import Column
from allennlp_sentmatch.data.files.sentences import read_sentences
from allennlp_sentmatch.data.files.source import Source

CHUNK_SIZE = 1 << 24
"""The number of bytes that are searched for line ends at a time."""

NOT_PLAIN = (b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\0\0\xfe\xff")
"""The first bytes of files that are compressed or have a byte order mark."""


class SentenceBlocks(NamedTuple):
    """Where the blocks of a corpus are in a file of lines.

    A block is read by whoever encodes it. To know where it begins, somebody has to count the lines
    of the file, but not to decode them.
    """

    path: str
    """A file that all readers can open, with a sentence on each line."""

    is_json: bool
    """Whether each line is a string in JSON, which may have line ends, or the sentence itself."""

    block_size: int
    """The number of sentences in each block but the last."""

    num_sentences: int

    offsets: list[int]
    """The byte at which each block begins, and the size of the file."""

    @classmethod
    def of_file(
        cls,
        file_path: PathOrStr,
        block_size: int,
        copy: Union[str, "os.PathLike[str]"],
        column: Optional[Column] = None,
        delimiter: Optional[str] = None,
    ) -> "SentenceBlocks":
        """The blocks of the sentences that `read_sentences` reads.

        A text file is read where it is. Of a table, of a compressed file, of one in another
        encoding than UTF-8 and of a URL, the sentences are first written to the file `copy`, which
        an interrupted run may have left.
        """
        # Errors in the first lines are raised before anything is written.
        next(read_sentences(file_path, column, delimiter), None)
        local = local_path(file_path)
        with open(local, "rb") as file:
            is_plain = not file.read(4).startswith(NOT_PLAIN)
        if column is None and is_plain and os.path.exists(file_path):
            return cls._of_lines(os.path.abspath(local), False, block_size)
        with open(copy, "w", encoding="ascii") as lines:
            for sentence in read_sentences(file_path, column, delimiter):
                lines.write(json.dumps(sentence) + "\n")
        return cls._of_lines(os.path.abspath(copy), True, block_size)

    @classmethod
    def _of_lines(cls, path: str, is_json: bool, block_size: int) -> "SentenceBlocks":
        offsets = [0]
        num_lines = size = 0
        last = b"\n"
        with open(path, "rb") as file:
            while chunk := file.read(CHUNK_SIZE):
                ends = numpy.flatnonzero(numpy.frombuffer(chunk, numpy.uint8) == 10)
                # The first line of a block follows the end of the last line of the block before.
                first = -(num_lines + 1) % block_size
                offsets += (ends[first::block_size] + size + 1).tolist()
                num_lines += len(ends)
                size += len(chunk)
                last = chunk[-1:]
        num_lines += last != b"\n"  # of the last line, which may have no end
        if offsets[-1] != size:
            offsets.append(size)
        return cls(path, is_json, block_size, num_lines, offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def rows(self, block: int) -> range:
        """The rows of the corpus in a block."""
        start = block * self.block_size
        return range(start, min(start + self.block_size, self.num_sentences))

    def read(self, block: int) -> list[str]:
        """The sentences of a block.

        # Raises

        `ConfigurationError` for a line that is not UTF-8, and if the file is another than it was
        when its lines were counted.
        """
        with open(self.path, "rb") as file:
            file.seek(self.offsets[block])
            content = file.read(self.offsets[block + 1] - self.offsets[block])
        rows = self.rows(block)
        lines = content.split(b"\n")
        if not lines[-1]:
            lines.pop()
        if len(lines) != len(rows):
            raise ConfigurationError(f"{self.path} was changed while it was encoded")
        if self.is_json:
            return [json.loads(line) for line in lines]
        sentences = []
        for row, line in zip(rows, lines):
            try:
                sentences.append(line.decode("utf-8").rstrip("\r\n"))
            except UnicodeError as error:
                raise ConfigurationError(
                    f"{Source(self.path, row + 1)}: not utf-8 ({error}); convert the file"
                ) from None
        return sentences
