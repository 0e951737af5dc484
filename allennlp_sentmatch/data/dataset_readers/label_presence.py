"""Checks that all rows of a file have a label, or none has."""

from collections.abc import Iterable, Iterator
from typing import Any, Optional

from allennlp_sentmatch.data.files.row import Row

LabeledRow = tuple[Row, Optional[str]]


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


def all_or_none_labeled(rows: Iterable[LabeledRow]) -> Iterator[LabeledRow]:
    """Yield rows and their labels, checked by `AllOrNone`."""
    labels = AllOrNone("label")
    for row, label in rows:
        labels.check(row, label)
        yield row, label
