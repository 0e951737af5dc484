"""Tables whose cells are separated by a delimiter."""

import csv
from collections.abc import Iterator, Sequence
from typing import Optional

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.lines import PathOrStr, not_empty, read_lines
from allennlp_sentmatch.data.files.row import Row, Source, first_repeated
from allennlp_sentmatch.data.text import printable, shorten

Cells = Iterator[tuple[Source, list[str]]]
"""The cells of each row; an empty list for a blank line."""


def delimited_rows(
    file_path: PathOrStr,
    delimiter: str = "\t",
    quoted: bool = False,
    columns: Optional[Sequence[str]] = None,
    encoding: str = "utf-8",
) -> Iterator[Row]:
    r"""Yield the rows of a file whose cells are separated by a delimiter.

    Blank lines are skipped. Only between the rows of a table of one column they are an error: they
    may be empty cells or nothing there.

    # Parameters

    file_path : `PathOrStr`
    delimiter : `str`, optional (default = `"\t"`)
        Separates two cells.
    quoted : `bool`, optional (default = `False`)
        Whether double quotes around a cell protect its content, as in a csv file; otherwise quotes
        are text.
    columns : `Sequence[str]`, optional (default = `None`)
        The columns' names where the file has no header; cells past the last name are left out. An
        empty sequence: columns go by position. `None`: the first row is the header, and every
        row must have as many cells.
    encoding : `str`, optional (default = `"utf-8"`)
    """
    cells = _quoted_cells if quoted else _plain_cells
    rows = _without_blank_lines(cells(file_path, delimiter, encoding))
    return not_empty(_with_columns(rows, columns), file_path)


def _plain_cells(file_path: PathOrStr, delimiter: str, encoding: str) -> Cells:
    for number, line in read_lines(file_path, encoding):
        blank = not line.strip() and delimiter not in line
        yield Source(file_path, number), [] if blank else line.rstrip("\r\n").split(delimiter)


def _quoted_cells(file_path: PathOrStr, delimiter: str, encoding: str) -> Cells:
    lines = (line for _, line in read_lines(file_path, encoding))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        # A quoted cell may hold line ends: a row is known by its first line.
        source = Source(file_path, reader.line_num + 1)
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise ConfigurationError(f"{source}: malformed quoted row ({error})") from None
        if cells is None:
            return
        yield source, cells


def _without_blank_lines(rows: Cells) -> Cells:
    num_columns = 0
    blank: Optional[Source] = None
    for source, cells in rows:
        if not cells:
            blank = blank or source
            continue
        if blank is not None and num_columns == 1:
            raise ConfigurationError(
                f"{blank}: a blank line in a table of one column, which may be an empty cell or "
                'nothing; delete the line, or write "" there if the table is quoted'
            )
        num_columns, blank = len(cells), None
        yield source, cells


def _with_columns(rows: Cells, columns: Optional[Sequence[str]]) -> Iterator[Row]:
    header: list[str] = []
    if columns is None:
        for source, header in rows:
            _check_header(source, header)
            break
    for source, cells in rows:
        if columns is None:
            if len(cells) != len(header):
                raise ConfigurationError(
                    f"{source}: {len(cells)} columns where the header has {len(header)} "
                    f"({_listed(header)})"
                )
            yield Row(source, dict(zip(header, cells)))
        elif columns:
            if len(cells) < len(columns):
                raise ConfigurationError(
                    f"{source}: {len(cells)} columns, expected {len(columns)} ({_listed(columns)})"
                )
            yield Row(source, dict(zip(columns, cells)))
        else:
            yield Row(source, dict(enumerate(cells)))


def _check_header(source: Source, header: list[str]) -> None:
    # Spreadsheets write several columns without a name where cells to the right were once filled.
    repeated = first_repeated(name for name in header if name)
    if repeated is not None:
        raise ConfigurationError(
            f"{source}: two columns have the name {shorten(repeated)}; rename one"
        )


def _listed(names: Sequence[str]) -> str:
    return printable(", ".join(names))[:500]
