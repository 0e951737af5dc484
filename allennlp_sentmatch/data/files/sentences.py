"""Sentences of text files and tables."""

import re
from collections.abc import Iterator
from typing import Optional

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.lines import PathOrStr, read_lines
from allennlp_sentmatch.data.files.row import Column, Source
from allennlp_sentmatch.data.files.table import Table

_TABLE = re.compile(r"\.(tsv|csv|jsonl?)(\.gz)?$", re.IGNORECASE)


def read_sentences(
    file_path: PathOrStr, column: Optional[Column] = None, delimiter: Optional[str] = None
) -> Iterator[str]:
    """Yield the sentences of a file without holding them in memory.

    # Parameters

    file_path : `PathOrStr`
        A path or URL, gzipped or not.
    column : `Union[int, str]`, optional (default = `None`)
        Of a table (tsv, csv or JSON lines), the sentences' column: its name, or its position
        counted from 0 where the table has no header. `None`: a text file, every line of which is
        a sentence; an empty line is an empty sentence, so that line numbers are kept.
    delimiter : `str`, optional (default = `None`)
        Separates the cells of a table. By default the first line decides, as in `Table`.

    # Raises

    `ConfigurationError` for what is wrong with the file, with its line, for a delimiter without a
    column, and for a table without one: a file whose name ends with .tsv, .csv, .json or .jsonl, or
    whose first line has a tab.
    """
    for _, sentence in located_sentences(file_path, column, delimiter):
        yield sentence


def located_sentences(
    file_path: PathOrStr, column: Optional[Column] = None, delimiter: Optional[str] = None
) -> Iterator[tuple[Source, str]]:
    """Yield each sentence of `read_sentences` with its file and line."""
    if column is None and delimiter is not None:
        raise ConfigurationError(
            f"delimiter={delimiter!r} needs a column; without one, every line is a sentence"
        )
    if column is None:
        for number, line in read_lines(file_path):
            if number == 1 and (_TABLE.search(str(file_path)) or "\t" in line.strip()):
                raise ConfigurationError(
                    f"{Source(file_path)} is a table, it seems; name the column of the sentences "
                    "(of a command: --column), or its position, counted from 0, if there is no "
                    "header"
                )
            yield Source(file_path, number), line.rstrip("\r\n")
    else:
        for row in Table({"column": column}, delimiter).rows(file_path):
            yield row.source, row.text([column])
