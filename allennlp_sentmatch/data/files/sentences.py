"""Sentences of text files and tables."""

from collections.abc import Iterator
from typing import Optional

from allennlp_sentmatch.data.files.lines import PathOrStr, read_lines
from allennlp_sentmatch.data.files.row import Column
from allennlp_sentmatch.data.files.source import Source
from allennlp_sentmatch.data.files.table import Table


def read_sentences(file_path: PathOrStr, column: Optional[Column] = None) -> Iterator[str]:
    """Yields the sentences of a file without holding them in memory.

    # Parameters

    file_path : `PathOrStr`
        A path or URL, gzipped or not.
    column : `Union[int, str]`, optional (default = `None`)
        Of a table (tsv, csv or JSON lines), the sentences' column: its name, or its position
        counted from 0 where the table has no header. `None`: a text file, every line of which is
        a sentence; an empty line is an empty sentence, so that line numbers are kept.

    # Raises

    `ConfigurationError` for what is wrong with the file, with its line.
    """
    for _, sentence in located_sentences(file_path, column):
        yield sentence


def located_sentences(
    file_path: PathOrStr, column: Optional[Column] = None
) -> Iterator[tuple[Source, str]]:
    """Yields each sentence of `read_sentences` with its file and line."""
    if column is None:
        for number, line in read_lines(file_path):
            yield Source(file_path, number), line.rstrip("\r\n")
    else:
        for row in Table({"column": column}).rows(file_path):
            yield row.source, row.text([column])
