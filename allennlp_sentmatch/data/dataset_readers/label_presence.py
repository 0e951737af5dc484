"""A check that all rows of a file have a label, or none has."""

from collections.abc import Iterable, Iterator
from typing import Optional

from allennlp_sentmatch.data.files.row import Row

LabeledRow = tuple[Row, Optional[str]]


def all_or_none_labeled(rows: Iterable[LabeledRow]) -> Iterator[LabeledRow]:
    """Yield rows and their labels; raise an error for a row that has one where the first has none,
    or has none where the first has one.

    AllenNLP cannot put examples with and without a label into one batch, and its own error names
    neither the file nor the line.
    """
    first: Optional[LabeledRow] = None
    for row, label in rows:
        first = first or (row, label)
        first_row, first_label = first
        if (label is None) != (first_label is None):
            raise row.error(
                f"{'no' if label is None else 'a'} label, but line {first_row.source.line} has "
                f"{'none' if first_label is None else 'one'}; label all rows of a file, or none"
            )
        yield row, label
