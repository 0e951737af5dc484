"""Tables of users."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Optional

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.delimited import delimited_rows
from allennlp_sentmatch.data.files.json_lines import json_rows
from allennlp_sentmatch.data.files.lines import PathOrStr, first_line
from allennlp_sentmatch.data.files.row import Column, Row

_JSON = re.compile(r"\s*(\{|\[\s*(\{|$))")
"""The beginning of JSON lines, or of a JSON array of objects, which is an error later on."""

_OTHER_DELIMITERS = (";", "|")


class Table:
    """A user's file: tsv, csv or JSON lines.

    Its columns go by name, or by position where it has no header.

    # Parameters

    columns : `Mapping[str, Optional[Column]]`
        Each setting of the reader that names a column, with its value; `None` for a column that
        the file need not have. All names, or all positions counted from 0.
    delimiter : `str`, optional (default = `None`)
        By default the first line decides: a `{` begins JSON lines, otherwise a tab separates the
        cells if there is one, otherwise a comma.
    quoted : `bool`, optional (default = `None`)
        Whether double quotes protect a cell; by default, if the delimiter is a comma.
    optional : `Collection[str]`, optional (default = `()`)
        The settings that may be null, for a file without such a column.
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
            raise ConfigurationError(
                "expected all columns by name (a file with a header) or all by position (one "
                f"without), got {given}; a column that is not there is null"
            )
        if delimiter == "":
            raise ConfigurationError("delimiter='': expected at least one character")
        if quoted and delimiter is not None and len(delimiter) > 1:
            raise ConfigurationError(
                f"delimiter={delimiter!r}: expected a single character where quoted is true"
            )
        self._columns = given
        self._delimiter = delimiter
        self._quoted = quoted
        self._optional = optional

    def rows(self, file_path: PathOrStr, encoding: str = "utf-8") -> Iterator[Row]:
        """Yield the file's rows, each of which has all the columns."""
        for row in self._all_rows(file_path, encoding):
            for setting, column in self._columns.items():
                remedy = f"; name it in the setting {setting!r}"
                if setting in self._optional:
                    remedy += " (null there if the file has no such column)"
                row.require([column], remedy)
            yield row

    def _all_rows(self, file_path: PathOrStr, encoding: str) -> Iterator[Row]:
        delimiter = self._delimiter
        if delimiter is None:
            beginning = first_line(file_path, encoding)
            if _JSON.match(beginning):
                return json_rows(file_path, encoding)
            delimiter = "\t" if "\t" in beginning else ","
            self._check_delimiter(file_path, beginning, delimiter)
        return delimited_rows(
            file_path,
            delimiter=delimiter,
            quoted=delimiter == "," if self._quoted is None else self._quoted,
            columns=() if self._by_position else None,
            encoding=encoding,
        )

    def _check_delimiter(self, file_path: PathOrStr, beginning: str, delimiter: str) -> None:
        """Raise an error if the first line has the columns by another delimiter only."""
        if self._in_line(beginning, delimiter):
            return
        for other in _OTHER_DELIMITERS:
            if self._in_line(beginning, other):
                raise ConfigurationError(
                    f"{file_path}: the columns are separated by {other!r}, it seems; set "
                    f"`delimiter` (of a command: --delimiter) to {other!r}"
                )

    def _in_line(self, line: str, delimiter: str) -> bool:
        cells = [cell.strip('"') for cell in line.split(delimiter)]
        present = range(len(cells)) if self._by_position else cells
        return all(column in present for column in self._columns.values())
