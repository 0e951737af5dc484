"""The values of one example, and their source."""

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional, Union

from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.messages import printable, shorten
from allennlp_sentmatch.files.texts import checked_text

Column = Union[int, str]
"""A column's name, or its position counted from 0."""


class Source(NamedTuple):
    """The place of an example, for errors about it: `str(source)` is `pairs.tsv, line 3`."""

    file_path: AnyPath
    """The file, as the user named it."""
    line: Optional[int] = None
    """The example's first line, counted from 1; `None` if the file is not read by lines."""
    part: Optional[str] = None
    """The part of a JSON document that holds the example, such as `data[0].paragraphs[2]`."""

    @property
    def position(self) -> str:
        """The line or the part of the file; an empty string if the example is the whole file."""
        return f"line {self.line}" if self.line is not None else self.part or ""

    def __str__(self) -> str:
        position = self.position
        place = f"{self.file_path}, {position}" if position else str(self.file_path)
        return printable(place)


class Row:
    """The values of one example and their source.

    The methods take several columns, since formats of a data set may name a column differently, and
    return `None` for a value that the row lacks. Their errors name the `source`, the file and the
    row's first line. The `values`, by column, are strings in a delimited file and any JSON in JSON
    lines.
    """

    __slots__ = ("source", "values")

    def __init__(self, source: Source, values: dict[Any, Any]) -> None:
        self.source = source
        self.values = values

    def error(self, problem: str) -> ValueError:
        """Return an error that names the file and the place of the `problem`."""
        return ValueError(f"{self.source}: {problem}")

    def find(self, columns: Sequence[Column]) -> Optional[Any]:
        """Return the value of the first of the `columns` that the row has; `None` without one."""
        return next((self.values[column] for column in columns if column in self.values), None)

    @property
    def listed(self) -> str:
        """A clause that lists the columns."""
        return f"the columns are {', '.join(map(shorten, self.values))[:500]}"

    def require(self, columns: Sequence[Column], remedy: str = "") -> None:
        """Raise `ValueError` if the row has none of the `columns`.

        The message lists the row's columns and ends with the `remedy`.
        """
        if not any(column in self.values for column in columns):
            wanted = " or ".join(map(repr, columns))
            raise self.error(f"there is no column {wanted}; {self.listed}{remedy}")

    def text(self, columns: Sequence[Column]) -> str:
        """Return the string in the first of the `columns` that the row has; it may be empty.

        Raise `ValueError` if the row has none of them, or another value than a string there.
        """
        value = self.find(columns)
        if not isinstance(value, str):
            self.require(columns)
            raise self._wrong(columns, "a string", value)
        return self._checked(value, columns)

    def label(self, columns: Sequence[Column]) -> Optional[str]:
        """Return the label in the first of the `columns` that the row has; `None` also for a JSON
        null.

        JSON's integers and booleans become strings: "1", "true". Spaces around a label are removed.
        Raise `ValueError` for an empty string, and for any other value.
        """
        value = self.find(columns)
        if value is None:
            return None
        if isinstance(value, int):
            return json.dumps(value)
        if not isinstance(value, str):
            raise self._wrong(columns, "a label", value)
        if not value.strip():
            raise self.error(
                f"{_named(columns)} is empty: expected a label; give the row one or delete it "
                "(a file without any labels has no such column)"
            )
        return self._checked(value.strip(), columns)

    def texts(self, columns: Sequence[Column]) -> Optional[list[str]]:
        """Return the strings in all of the `columns` that the row has; `None` also for JSON nulls.

        A column holds a string or, in JSON, a list of strings. Raise `ValueError` for an empty
        list, a blank string, or anything else.
        """
        present = [column for column in columns if self.values.get(column) is not None]
        texts = []
        for column in present:
            value = self.values[column]
            held = value if isinstance(value, list) else [value]
            for text in held:
                if not isinstance(text, str):
                    raise self.error(f"{_named([column])} must hold strings, not {shorten(text)}")
                if not text.strip():
                    raise self.error(f"{_named([column])} holds a blank text")
                texts.append(self._checked(text, [column]))
        if present and not texts:
            raise self.error(f"{_named(columns)} is an empty list")
        return texts or None

    def number(
        self,
        columns: Sequence[Column],
        limits: Optional[tuple[float, float]] = None,
    ) -> Optional[float]:
        """Return the number in the first of the `columns`; `None` without one.

        Raise `ValueError` unless it is finite and within the `limits`, which are included.
        """
        value = self.find(columns)
        if value is None:
            return None
        try:
            # Python reads 1_0 as 10, and takes JSON's true for 1.
            is_other = isinstance(value, bool) or "_" in str(value)
            number = math.nan if is_other else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self._wrong(columns, "a finite number", value)
        if limits is not None and not limits[0] <= number <= limits[1]:
            raise self._wrong(columns, f"between {limits[0]} and {limits[1]}", number)
        return number

    def joined(self, columns: Sequence[Column]) -> Optional[str]:
        """Return the values of all `columns`, joined by hyphens: an id.

        `None` if the row lacks one of them, or has a JSON null or an empty cell there. Raise
        `ValueError` for an object or a list.
        """
        values = [self.values.get(column) for column in columns]
        for column, value in zip(columns, values):
            if isinstance(value, (dict, list)):
                raise self._wrong([column], "an id", value)
        if not values or any(value is None or value == "" for value in values):
            return None
        return self._checked("-".join(map(str, values)), columns)

    def _wrong(self, columns: Sequence[Column], expected: str, value: Any) -> ValueError:
        """Return the error for a value of some columns that is not what was `expected`."""
        return self.error(f"{_named(columns)} must be {expected}, not {shorten(value)}")

    def _checked(self, text: str, columns: Sequence[Column]) -> str:
        """Return a text; raise `ValueError`, with its place, for a lone surrogate."""
        name = f"{self.source}: {_named(columns)}"
        return checked_text(text, name, of_any_length=True)


class AllOrNone:
    """Checks that either all rows of some files have a value, called `name` in errors, or none.

    AllenNLP's own error for a batch of examples with and without a label names no file.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._first: Optional[tuple[Source, bool]] = None

    def check(self, row: Row, value: Optional[Any]) -> None:
        """Raise `ValueError` if only one of `row` and the first row has a value."""
        if self._first is None:
            self._first = (row.source, value is None)
        place, is_missing = self._first
        if (value is None) != is_missing:
            has, first_has = ("no", "one") if value is None else ("a", "none")
            is_same_file = place.file_path == row.source.file_path
            raise row.error(
                f"{has} {self._name}, but {place.position if is_same_file else place} has "
                f"{first_has}; give one to all rows, or to none"
            )


def _named(columns: Sequence[Column]) -> str:
    """Return the name of one of several columns, for messages."""
    return "column " + " or ".join(map(repr, columns))
