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
        The name of the value: `"label"` or `"score"`.
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
            raise row.error(
                f"{'no' if value is None else 'a'} {self._name}, but line {first_row.source.line} "
                f"has {'none' if first_value is None else 'one'}; {self._name} all rows of a file, "
                "or none"
            )


def all_or_none_labeled(rows: Iterable[LabeledRow]) -> Iterator[LabeledRow]:
    """Yield rows and their labels, checked by `AllOrNone`."""
    labels = AllOrNone("label")
    for row, label in rows:
        labels.check(row, label)
        yield row, label
