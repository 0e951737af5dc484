"""Tables of the user's own."""

from collections.abc import Iterator
from typing import Optional

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.rows import (
    Column,
    PathOrStr,
    Row,
    delimited_rows,
    first_line,
    json_rows,
)


class Table:
    """A file of the user's own: tsv, csv or JSON lines.

    Its columns go by name, or by position where it has no header.

    # Parameters

    columns : `dict[str, Optional[Column]]`
        Each setting of the reader that names a column, with its value; `None` for a column that
        the file need not have. All names, or all positions counted from 0.
    delimiter : `str`, optional (default = `None`)
        Seen from the first line where it is `None`: a `{` begins JSON lines, otherwise a tab
        separates the cells if there is one, otherwise a comma.
    quoted : `bool`, optional (default = `None`)
        Whether double quotes protect a cell; where it is `None`, if the delimiter is a comma.
    """

    def __init__(
        self,
        columns: dict[str, Optional[Column]],
        delimiter: Optional[str] = None,
        quoted: Optional[bool] = None,
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
        self._delimiter = delimiter
        self._quoted = quoted

    def rows(self, file_path: PathOrStr, encoding: str = "utf-8") -> Iterator[Row]:
        """Yields the file's rows."""
        delimiter = self._delimiter
        if delimiter is None:
            beginning = first_line(file_path, encoding)
            if beginning.lstrip().startswith("{"):
                return json_rows(file_path, encoding)
            delimiter = "\t" if "\t" in beginning else ","
        return delimited_rows(
            file_path,
            delimiter=delimiter,
            quoted=delimiter == "," if self._quoted is None else self._quoted,
            columns=() if self._by_position else None,
            encoding=encoding,
        )
