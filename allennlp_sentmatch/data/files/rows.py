r"""Rows of data files: what the readers share between a path and the values of one example.

A path is anything AllenNLP's `cached_path` takes: a file, a URL, or `archive!member` for a file
inside a zip or tar archive. Gzip-compressed files are read as they are. A byte order mark and
`\r\n` line ends are no part of the text, and blank lines are no rows.

Whatever is wrong with a file is a `ConfigurationError` that names the file and the line.
"""

import codecs
import csv
import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from os import PathLike, path
from typing import Any, BinaryIO, Optional, TypeVar, Union, cast

from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path

from allennlp_sentmatch.data.files.source import Source

PathOrStr = Union[str, "PathLike[str]"]

Column = Union[int, str]
"""A column's name, or its position counted from 0."""

T = TypeVar("T")


class Row:
    """The values of one example and where they stand.

    # Parameters

    file_path : `str`
        The file, as the user named it.
    line : `int`
        The row's first line, counted from 1.
    values : `dict[Column, Any]`
        Values by column. Those of a delimited file are strings; those of JSON lines are whatever
        JSON has.
    """

    __slots__ = ("file_path", "line", "values")

    def __init__(self, file_path: PathOrStr, line: int, values: dict[Any, Any]) -> None:
        self.file_path = file_path
        self.line = line
        self.values = values

    @property
    def source(self) -> Source:
        """Where the row stands."""
        return Source(self.file_path, self.line)

    def error(self, problem: str) -> ConfigurationError:
        """An error that says where in which file the `problem` is."""
        return ConfigurationError(f"{self.source}: {problem}")

    def find(self, columns: Sequence[Column]) -> Optional[Any]:
        """The value of the first of the `columns` that the row has; `None` if it has none."""
        for column in columns:
            if column in self.values:
                return self.values[column]
        return None

    def require(self, columns: Sequence[Column]) -> None:
        """Raises an error that lists the row's columns if none of `columns` is among them."""
        if not any(column in self.values for column in columns):
            wanted = " or ".join(repr(column) for column in columns)
            present = ", ".join(repr(column) for column in self.values)
            raise self.error(f"there is no column {wanted}; the columns are {present}")

    def text(self, columns: Sequence[Column]) -> str:
        """The string in the first of the `columns` that the row has; it may be empty."""
        value = self.find(columns)
        if not isinstance(value, str):
            self.require(columns)
            raise self.error(f"{_named(columns)} must be a string, not {value!r}")
        return value

    def label(self, columns: Sequence[Column]) -> Optional[str]:
        """The label's name in the first of the `columns` that the row has; `None` where the row has
        none of them, or a JSON null. JSON's integers and booleans become strings: "1", "true".
        """
        value = self.find(columns)
        if value is None:
            return None
        if isinstance(value, int):
            return json.dumps(value)
        if not isinstance(value, str):
            raise self.error(f"{_named(columns)} must be a label, not {value!r}")
        label = value.strip()
        if not label:
            raise self.error(f"{_named(columns)} is empty: expected a label")
        return label

    def number(self, columns: Sequence[Column]) -> Optional[float]:
        """The number in the first of the `columns`; `None` where the row has none of them."""
        value = self.find(columns)
        if value is None:
            return None
        try:
            return float(value)
        except (TypeError, ValueError):
            raise self.error(f"{_named(columns)} must be a number, not {value!r}") from None

    def joined(self, columns: Sequence[Column]) -> Optional[str]:
        """The values of all `columns`, joined by hyphens; `None` if the row lacks one of them."""
        values = [self.values.get(column) for column in columns]
        if not values or any(value is None for value in values):
            return None
        return "-".join(str(value) for value in values)


def _named(columns: Sequence[Column]) -> str:
    return "column " + " or ".join(repr(column) for column in columns)


def check_encoding(encoding: str) -> str:
    """Returns `encoding` if it is the name of one."""
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise ConfigurationError(
            f"encoding={encoding!r}: expected the name of a text encoding, such as 'utf-8', "
            "'latin-1' or 'windows-1252'"
        ) from None
    return encoding


def local_path(file_path: PathOrStr) -> str:
    """Where a file or folder is, once it is downloaded and extracted."""
    if not isinstance(file_path, (str, PathLike)):
        raise ConfigurationError(f"expected the path of a file or folder, got {file_path!r}")
    return str(cached_path(file_path, extract_archive="!" in str(file_path)))


def read_lines(file_path: PathOrStr, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yields `(number, line)` for every line, counted from 1, with its line end."""
    local = local_path(file_path)
    if path.isdir(local):
        raise ConfigurationError(
            f"{file_path} is a folder or an archive; expected a file (a file inside an archive is "
            "written archive!member)"
        )
    number = 0
    try:
        with open(local, "rb") as file, _decompressed(file) as lines:
            for number, line in enumerate(lines, start=1):
                if number == 1 and line.startswith(codecs.BOM_UTF8):
                    line = line[len(codecs.BOM_UTF8) :]
                yield number, line.decode(encoding)
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{file_path}, line {number}: not {encoding} ({error}); convert the file, or name its "
            "encoding where the reader has that setting"
        ) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ConfigurationError(
            f"{file_path}: damaged gzip data after line {number} ({error})"
        ) from None


def _decompressed(file: BinaryIO) -> BinaryIO:
    compressed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return cast(BinaryIO, gzip.open(file)) if compressed else file


def first_line(file_path: PathOrStr, encoding: str = "utf-8") -> str:
    """The first line that is not blank, without its line end: what a form is recognized by."""
    lines = (line.rstrip("\r\n") for _, line in read_lines(file_path, encoding) if line.strip())
    return next(not_empty(lines, file_path))


def not_empty(rows: Iterator[T], file_path: PathOrStr) -> Iterator[T]:
    """Yields the `rows`; raises an error if there was none."""
    empty = True
    for row in rows:
        empty = False
        yield row
    if empty:
        raise ConfigurationError(f"{file_path} is empty: there is no row to read")


def text_rows(file_path: PathOrStr, encoding: str = "utf-8") -> Iterator[Row]:
    """Yields a row for each line that is not blank, the line itself as its column "text"."""
    return not_empty(
        (
            Row(file_path, number, {"text": line.rstrip("\r\n")})
            for number, line in read_lines(file_path, encoding)
            if line.strip()
        ),
        file_path,
    )


def json_rows(file_path: PathOrStr, encoding: str = "utf-8") -> Iterator[Row]:
    """Yields the rows of JSON lines: an object a line, its keys are the columns."""
    return not_empty(_json_rows(file_path, encoding), file_path)


def _json_rows(file_path: PathOrStr, encoding: str) -> Iterator[Row]:
    for number, line in read_lines(file_path, encoding):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except ValueError as error:
            raise ConfigurationError(
                f"{file_path}, line {number}: not valid JSON ({error})"
            ) from None
        if not isinstance(values, dict):
            raise ConfigurationError(
                f"{file_path}, line {number}: expected a JSON object, as in "
                f'{{"key": "value"}}, got {line.strip()[:50]}'
            )
        yield Row(file_path, number, values)


def delimited_rows(
    file_path: PathOrStr,
    delimiter: str = "\t",
    quoted: bool = False,
    columns: Optional[Sequence[str]] = None,
    encoding: str = "utf-8",
) -> Iterator[Row]:
    r"""Yields the rows of a file whose cells are separated by a delimiter.

    # Parameters

    file_path : `PathOrStr`
    delimiter : `str`, optional (default = `"\t"`)
        What stands between two cells.
    quoted : `bool`, optional (default = `False`)
        Whether double quotes around a cell protect what is in it, as in a csv file; otherwise
        quotes are text.
    columns : `Sequence[str]`, optional (default = `None`)
        The columns' names where the file has no header; cells past the last name are left out. An
        empty sequence: columns go by position. `None`: the first row is the header, and every
        row must have as many cells.
    encoding : `str`, optional (default = `"utf-8"`)
    """
    cells = _quoted_cells if quoted else _plain_cells
    rows = cells(file_path, delimiter, encoding)
    return not_empty(_with_columns(file_path, rows, columns), file_path)


def _plain_cells(
    file_path: PathOrStr, delimiter: str, encoding: str
) -> Iterator[tuple[int, list[str]]]:
    for number, line in read_lines(file_path, encoding):
        if line.strip():
            yield number, line.rstrip("\r\n").split(delimiter)


def _quoted_cells(
    file_path: PathOrStr, delimiter: str, encoding: str
) -> Iterator[tuple[int, list[str]]]:
    lines = (line for _, line in read_lines(file_path, encoding))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        # A quoted cell may hold line ends: a row is known by its first line.
        number = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise ConfigurationError(
                f"{file_path}, line {number}: malformed quoted row ({error})"
            ) from None
        if cells is None:
            return
        if cells:
            yield number, cells


def _with_columns(
    file_path: PathOrStr,
    rows: Iterator[tuple[int, list[str]]],
    columns: Optional[Sequence[str]],
) -> Iterator[Row]:
    if columns is None:
        _, header = next(rows, (0, []))
    for number, cells in rows:
        if columns is None:
            if len(cells) != len(header):
                raise ConfigurationError(
                    f"{file_path}, line {number}: {len(cells)} columns where the header has "
                    f"{len(header)} ({', '.join(header)})"
                )
            yield Row(file_path, number, dict(zip(header, cells)))
        elif columns:
            if len(cells) < len(columns):
                raise ConfigurationError(
                    f"{file_path}, line {number}: {len(cells)} columns, expected "
                    f"{len(columns)} ({', '.join(columns)})"
                )
            yield Row(file_path, number, dict(zip(columns, cells)))
        else:
            yield Row(file_path, number, dict(enumerate(cells)))
