"""The values of one example, and their place."""

import json
import math
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, NamedTuple, Optional, Union

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.text import check_text, printable, shorten

Column = Union[int, str]
"""A column's name, or its position counted from 0."""


def first_repeated(names: Iterable[str]) -> Optional[str]:
    """The first of the names that has occurred before; `None` if they are all different."""
    seen = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


class Source(NamedTuple):
    """The place of an example, for errors about it: `str(source)` is `pairs.tsv, line 3`."""

    file_path: Union[str, "PathLike[str]"]
    """The file, as the user named it."""
    line: Optional[int] = None
    """The example's first line, counted from 1; `None` if the file is not read by lines."""
    part: Optional[str] = None
    """The part of a JSON document that holds the example, such as `data[0].paragraphs[2]`."""

    @property
    def position(self) -> str:
        """The line or part of the file; an empty string if the example is the whole file."""
        return f"line {self.line}" if self.line is not None else self.part or ""

    def __str__(self) -> str:
        return printable(", ".join(filter(None, (str(self.file_path), self.position))))


class Row:
    """The values of one example and their source.

    The methods take several columns where forms of a data set differ in a column's name. Their
    errors name the file and the line.

    # Parameters

    source : `Source`
        The file and the row's first line.
    values : `dict[Column, Any]`
        Values by column. Those of a delimited file are strings; those of JSON lines are any that
        JSON has.
    """

    __slots__ = ("source", "values")

    def __init__(self, source: Source, values: dict[Any, Any]) -> None:
        self.source = source
        self.values = values

    def error(self, problem: str) -> ConfigurationError:
        """An error that says where in which file the `problem` is."""
        return ConfigurationError(f"{self.source}: {problem}")

    def find(self, columns: Sequence[Column]) -> Optional[Any]:
        """The value of the first of the `columns` that the row has; `None` if it has none."""
        for column in columns:
            if column in self.values:
                return self.values[column]
        return None

    def require(self, columns: Sequence[Column], remedy: str = "") -> None:
        """Raise an error that lists the row's columns if none of `columns` is among them."""
        if not any(column in self.values for column in columns):
            wanted = " or ".join(repr(column) for column in columns)
            present = ", ".join(map(shorten, self.values))[:500]
            raise self.error(f"there is no column {wanted}; the columns are {present}{remedy}")

    def text(self, columns: Sequence[Column]) -> str:
        """The string in the first of the `columns` that the row has; it may be empty."""
        value = self.find(columns)
        if not isinstance(value, str):
            self.require(columns)
            raise self.error(f"{_named(columns)} must be a string, not {shorten(value)}")
        return check_text(value, f"{self.source}: {_named(columns)}")

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
            raise self.error(f"{_named(columns)} must be a label, not {shorten(value)}")
        label = value.strip()
        if not label:
            raise self.error(
                f"{_named(columns)} is empty: expected a label; give the row one or delete it "
                "(a file without any labels has no such column)"
            )
        return check_text(label, f"{self.source}: {_named(columns)}")

    def texts(self, columns: Sequence[Column]) -> Optional[list[str]]:
        """The strings in all of the `columns` that the row has; a column holds one or, in JSON, a
        list of them. `None` where the row has none of the columns, or nulls only.

        # Raises

        `ConfigurationError` for an empty list, a blank string, or anything else.
        """
        present = [column for column in columns if self.values.get(column) is not None]
        if not present:
            return None
        texts = []
        for column in present:
            value = self.values[column]
            for text in value if isinstance(value, list) else [value]:
                if not isinstance(text, str):
                    raise self.error(f"{_named([column])} must hold strings, not {shorten(text)}")
                if not text.strip():
                    raise self.error(f"{_named([column])} holds a blank text")
                texts.append(check_text(text, f"{self.source}: {_named([column])}"))
        if not texts:
            raise self.error(f"{_named(columns)} is an empty list")
        return texts

    def number(
        self, columns: Sequence[Column], limits: Optional[tuple[float, float]] = None
    ) -> Optional[float]:
        """The finite number in the first of the `columns`; `None` if the row has none of them.

        With `limits`, the number must be between them.
        """
        value = self.find(columns)
        if value is None:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self.error(f"{_named(columns)} must be a finite number, not {shorten(value)}")
        if limits is not None and not limits[0] <= number <= limits[1]:
            raise self.error(
                f"{_named(columns)} must be between {limits[0]} and {limits[1]}, not {number}"
            )
        return number

    def joined(self, columns: Sequence[Column]) -> Optional[str]:
        """The values of all `columns`, joined by hyphens: an id.

        `None` if the row lacks one of them, or has a JSON null or an empty cell there.
        """
        values = [self.values.get(column) for column in columns]
        for column, value in zip(columns, values):
            if isinstance(value, (dict, list)):
                raise self.error(f"{_named([column])} must be an id, not {shorten(value)}")
        if not values or any(value is None or value == "" for value in values):
            return None
        return check_text("-".join(map(str, values)), f"{self.source}: {_named(columns)}")


class AllOrNone:
    """A check that all rows of a file have a value, or none has.

    AllenNLP cannot put examples with and without a label into one batch, and its own error names
    neither the file nor the line.

    # Parameters

    name : `str`
        The name of the value in errors: "label", "score".
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._first: Optional[tuple[Row, Any]] = None

    def check(self, row: Row, value: Optional[Any]) -> None:
        """Raise an error if `row` has a value where the first row has none, or has none where the
        first row has one.
        """
        self._first = self._first or (row, value)
        first_row, first_value = self._first
        if (value is None) != (first_value is None):
            has, first_has = ("no", "one") if value is None else ("a", "none")
            raise row.error(
                f"{has} {self._name}, but {first_row.source.position} has {first_has}; give one to "
                "all rows of a file, or to none"
            )


def _named(columns: Sequence[Column]) -> str:
    return "column " + " or ".join(repr(column) for column in columns)
