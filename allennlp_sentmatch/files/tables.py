"""Tables: cells that a delimiter separates, and users' files of sentences."""

import csv
import logging
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Optional

from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.json_lines import json_rows
from allennlp_sentmatch.files.lines import first_line, not_empty, read_lines
from allennlp_sentmatch.files.messages import printable, shorten
from allennlp_sentmatch.files.row import Column, Row, Source

logger = logging.getLogger(__name__)

Cells = Iterator[tuple[Source, list[str]]]
"""The cells of each row; an empty list for a blank line."""

_JSON = re.compile(r"\s*(\{|\[\s*(\{|$))")
"""The beginning of JSON lines, or of a JSON array of objects, which is reported later."""

_PROTECTED = re.compile(r'"[^"]*(""[^"]*)*"')
"""A cell with a quote, tab or line end, as pandas, polars and spreadsheets write it."""

_QUOTED = (
    "set the reader's `quoted: true` if they protect cells, as pandas and spreadsheets write them, "
    "false if not (for a command, save the table with commas)"
)

_TABLE = re.compile(r"\.(tsv|csv|jsonl?)(\.gz)?$", re.IGNORECASE)


def delimited_rows(
    file_path: AnyPath,
    delimiter: str = "\t",
    quoted: Optional[bool] = False,
    columns: Optional[Sequence[str]] = None,
    encoding: str = "utf-8",
) -> Iterator[Row]:
    """Yield the rows of a file whose cells are separated by a delimiter.

    Blank lines are skipped. Only between the rows of a one-column table are they an error: they may
    be empty cells or nothing.

    Double quotes around a cell protect its content if the file is `quoted`, as a csv file is;
    otherwise they are text, and `None` warns if they seem to protect cells. The `columns` are
    the columns' names if the file has no header; cells past the last name are left out. Without
    names (an empty sequence), columns go by position. With `None`, the first row is the header, and
    every row must have as many cells.

    Raise `ValueError`, with file and line, for a row of another number of cells, for malformed
    quotes, for two columns of one name, and for a file without rows.
    """
    cells = _quoted_cells if quoted else _plain_cells
    rows = _without_blank_lines(cells(file_path, delimiter, encoding))
    return not_empty(_with_columns(rows, columns, quoted), file_path)


def _plain_cells(file_path: AnyPath, delimiter: str, encoding: str) -> Cells:
    """Yield the place and the cells of each line, in which double quotes are text."""
    for number, line in read_lines(file_path, encoding):
        is_blank = not line.strip() and delimiter not in line
        cells = [] if is_blank else line.rstrip("\r\n").split(delimiter)
        yield Source(file_path, number), cells


def _quoted_cells(file_path: AnyPath, delimiter: str, encoding: str) -> Cells:
    """Yield the place and the cells of each row, whose cells double quotes may protect.

    Raise `ValueError` for malformed quotes.
    """
    lines = (line for _, line in read_lines(file_path, encoding))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        # A quoted cell may contain line ends: errors name the row's first line.
        source = Source(file_path, reader.line_num + 1)
        try:
            yield source, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(f"{source}: malformed quoted row ({error})") from None


def _without_blank_lines(rows: Cells) -> Cells:
    """Leave out blank lines; raise `ValueError` for one that may be an empty cell."""
    num_columns = 0
    blank: Optional[Source] = None
    for source, cells in rows:
        if not cells:
            blank = blank or source
            continue
        if blank is not None and num_columns == 1:
            raise ValueError(
                f"{blank}: a blank line in a table of one column, which may be an empty cell or "
                'nothing; delete the line, or write "" there if the table is quoted'
            )
        num_columns = len(cells)
        blank = None
        yield source, cells


def _with_columns(
    rows: Cells,
    columns: Optional[Sequence[str]],
    quoted: Optional[bool],
) -> Iterator[Row]:
    """Yield the rows with the names of their cells, by default the names in the first row.

    Raise `ValueError` for a row with another number of cells. Log a warning if `quoted` is `None`
    and most cells with a double quote seem to be protected by it.
    """
    names = _header(rows) if columns is None else columns
    balance = 0
    for source, cells in rows:
        marked = [cell for cell in cells if '"' in cell] if quoted is None else []
        protected = [cell for cell in marked if _PROTECTED.fullmatch(cell)]
        balance += 2 * len(protected) - len(marked)
        has_too_many = columns is None and len(cells) > len(names)
        if len(cells) < len(names) or has_too_many:
            expected = ", expected" if columns else " where the header has"
            listed = printable(", ".join(names))[:500]
            remedy = f"; the row has double quotes: {_QUOTED}" if marked else ""
            raise ValueError(
                f"{source}: {len(cells)} columns{expected} {len(names)} ({listed}){remedy}"
            )
        yield Row(source, dict(zip(names or range(len(cells)), cells)))
    if balance > 0:  # most cells with a quote look as if a program quoted them
        logger.warning(f"{source.file_path}: double quotes are read as text; {_QUOTED}")


def _header(rows: Cells) -> Sequence[str]:
    """Return the names of the columns in the first row; no names if there is no row.

    Raise `ValueError` if two columns have the same name.
    """
    first = next(rows, None)
    if first is None:
        return []
    source, names = first
    # Spreadsheets write several columns without a name where cells were once filled.
    repeated = [name for name, number in Counter(names).items() if name and number > 1]
    if repeated:
        raise ValueError(f"{source}: two columns have the name {shorten(repeated[0])}; rename one")
    return names


class Table:
    """A user's file: tsv, csv or JSON lines; for `delimiter` and `quoted`, see `FormattedReader`.

    The `columns` are the settings of the reader that name a column, with their values: all names,
    or all positions counted from 0; `None`, for settings in `optional`, means no column.

    Raise `ValueError` for names among positions, and for an impossible delimiter.
    """

    def __init__(
        self,
        columns: Mapping[str, Optional[Column]],
        delimiter: Optional[str] = None,
        quoted: Optional[bool] = None,
        optional: Collection[str] = (),
    ) -> None:
        given = {setting: column for setting, column in columns.items() if column is not None}
        self._by_position = any(isinstance(column, int) for column in given.values())
        if self._by_position and any(isinstance(column, str) for column in given.values()):
            raise ValueError(
                "expected all columns by name (a file with a header) or all by position (one "
                f"without), got {given}; a column that is not there is null"
            )
        if delimiter == "":
            raise ValueError("delimiter='': expected at least one character")
        if quoted and delimiter is not None and len(delimiter) > 1:
            raise ValueError(
                f"delimiter={delimiter!r}: expected a single character where quoted is true"
            )
        self._columns = given
        self._delimiter = delimiter
        self._quoted = quoted
        self._optional = optional

    def rows(self, file_path: AnyPath, encoding: str = "utf-8") -> Iterator[Row]:
        """Yield the file's rows; each has all the columns.

        Raise `ValueError`, with file and line, for a row that lacks one, and for a first row of
        numbers that are the columns' positions.
        """
        for number, row in enumerate(self._all_rows(file_path, encoding)):
            if self._by_position and number == 0 and _is_numbering(row.values.values()):
                raise ValueError(
                    f"{row.source}: the row numbers the columns, as pandas does where they have no "
                    "names; delete it, or write the table with `header=False`"
                )
            for setting, column in self._columns.items():
                row.require([column], self._remedy(row, setting, column))
            yield row

    def _remedy(self, row: Row, setting: str, column: Column) -> str:
        """Return the end of the error for a column that a row lacks."""
        if f'"{column}"' in row.values:
            return f", in double quotes: {_QUOTED}"
        remedy = f"; name it in the setting {setting!r}"
        if setting in self._optional:
            remedy += " (null there if the file has no such column)"
        return remedy

    def _all_rows(self, file_path: AnyPath, encoding: str) -> Iterator[Row]:
        """Yield the rows of a file in its form, whatever their columns are."""
        delimiter = self._delimiter
        if delimiter is None:
            beginning = first_line(file_path, encoding)
            if _JSON.match(beginning):
                return json_rows(file_path, encoding)
            delimiter = self._usual_delimiter(file_path, beginning)
        quoted = True if self._quoted is None and delimiter == "," else self._quoted
        columns = () if self._by_position else None
        return delimited_rows(file_path, delimiter, quoted, columns, encoding)

    def _usual_delimiter(self, file_path: AnyPath, line: str) -> str:
        """Return the delimiter of a file with this first line: a tab if it has one, or a comma.

        Raise `ValueError` if only another delimiter separates the columns.
        """
        delimiter = "\t" if "\t" in line else ","
        others = [other for other in ";|" if self._in_line(line, other)]
        if others and not self._in_line(line, delimiter):
            raise ValueError(
                f"{file_path}: the columns are separated by {others[0]!r}, it seems; set "
                f"`delimiter` (of a command: --delimiter) to {others[0]!r}"
            )
        return delimiter

    def _in_line(self, line: str, delimiter: str) -> bool:
        """Return whether a line that a delimiter separates has all columns."""
        cells = [cell.strip('"') for cell in line.split(delimiter)]
        present = range(len(cells)) if self._by_position else cells
        return all(column in present for column in self._columns.values())


def _is_numbering(cells: Iterable[str]) -> bool:
    """Return whether cells are "0", "1", ..., possibly after an empty one above pandas' index."""
    numbers = [cell for cell in cells if cell]
    return bool(numbers) and numbers == list(map(str, range(len(numbers))))


def read_sentences(
    file_path: AnyPath,
    column: Optional[Column] = None,
    delimiter: Optional[str] = None,
) -> Iterator[str]:
    """Yield the sentences of a file without holding them in memory.

    In a table (tsv, csv or JSON lines), the sentences are in the `column`: its name, or its
    position counted from 0 if the table has no header; for the `delimiter`, see `FormattedReader`.
    Without a column, every line of the file is a sentence, even an empty one.

    Raise `ValueError` for errors in the file, with the line, for a delimiter without a column, and
    for a table without a column: a file whose name ends with .tsv, .csv, .json or .jsonl, or whose
    first line has a tab.
    """
    for _, sentence in located_sentences(file_path, column, delimiter):
        yield sentence


def located_sentences(
    file_path: AnyPath,
    column: Optional[Column] = None,
    delimiter: Optional[str] = None,
) -> Iterator[tuple[Source, str]]:
    """Yield each sentence of `read_sentences` with its file and line."""
    if column is not None:
        for row in Table({"column": column}, delimiter).rows(file_path):
            yield row.source, row.text([column])
        return
    if delimiter is not None:
        raise ValueError(
            f"delimiter={delimiter!r} needs a column; without one, every line is a sentence"
        )
    yield from _lines(
        file_path,
        "name the column of the sentences (of a command: --column), or its position, counted from "
        "0, if there is no header",
    )


def listed_sentences(file_path: AnyPath) -> Iterator[str]:
    """Yield the sentences of a file that is not a table: one per line, even an empty one.

    Raise `ValueError` for what `read_sentences` takes for a table.
    """
    for _, sentence in _lines(file_path, "expected a text file with one sentence per line"):
        yield sentence


def _lines(file_path: AnyPath, remedy: str) -> Iterator[tuple[Source, str]]:
    """Yield the lines of a file with their places; raise `ValueError` for a table."""
    for number, line in read_lines(file_path):
        if number == 1 and (_TABLE.search(str(file_path)) or "\t" in line.strip()):
            raise ValueError(f"{Source(file_path)} is a table, it seems; {remedy}")
        yield Source(file_path, number), line.rstrip("\r\n")
