"""Parts of a file, for data sets that come without a validation or a test set."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Callable, Optional, TypeVar

from allennlp.common import FromParams, Params
from allennlp.common.checks import ConfigurationError

T = TypeVar("T")


class Folds(FromParams):
    """Deals the examples of a file into `number` folds and keeps some of them.

    Example i, counted from 0 within its file, is in fold i mod `number`: no random numbers, and
    where each label has a file of its own the folds have the labels' proportions.

    Every reader of this package takes a data path with folds, an object of `path` and `folds`:

        "train_data_path": {"path": "train.tsv", "folds": {"number": 10, "drop": [0]}},
        "validation_data_path": {"path": "train.tsv", "folds": {"number": 10, "keep": [0]}},

    splits a file into training and validation sets; ten such configurations are a 10-fold
    cross-validation. Folds belong to the path, not to the reader: the reader that AllenNLP keeps in
    an archive reads other files whole.

    # Parameters

    number : `int`
        The number of folds, at least 2.
    keep : `list[int]`, optional (default = `None`)
        The folds to read, counted from 0.
    drop : `list[int]`, optional (default = `None`)
        The folds not to read. Exactly one of `keep` and `drop` is given.
    """

    def __init__(
        self, number: int, keep: Optional[list[int]] = None, drop: Optional[list[int]] = None
    ) -> None:
        if not isinstance(number, int) or number < 2:
            raise ConfigurationError(f"folds: number={number}: expected at least 2")
        if (keep is None) == (drop is None):
            raise ConfigurationError(f"folds: keep={keep}, drop={drop}: expected exactly one")
        self._named = set(keep if keep is not None else drop or [])
        self._number = number
        self._keeps = keep is not None
        leaves_none = not self._keeps and len(self._named) == number
        if not self._named or leaves_none or not all(0 <= i < number for i in self._named):
            raise ConfigurationError(
                f"folds: {'keep' if self._keeps else 'drop'}={sorted(self._named)}: expected some "
                f"of, and not all of, the folds 0 to {number - 1}"
            )

    def select(self, examples: Iterable[T]) -> Iterator[T]:
        """Yield the examples of one file that are in the folds kept."""
        return (
            example
            for index, example in enumerate(examples)
            if (index % self._number in self._named) == self._keeps
        )


def split_data_path(data_path: Any) -> tuple[Any, Callable[[Iterable[T]], Iterator[T]]]:
    """Take the folds off a data path with or without them; see `Folds`.

    Returns the path, and a function from the examples of one file to those that are to be read.
    """
    # Some of AllenNLP's commands hand in the object as `Params`.
    if isinstance(data_path, Params):
        data_path = data_path.as_dict(quiet=True)
    if not isinstance(data_path, Mapping) or "folds" not in data_path:
        return data_path, iter
    if set(data_path) != {"path", "folds"} or not isinstance(data_path["folds"], Mapping):
        raise ConfigurationError(
            'expected a data path with folds as {"path": ..., "folds": {"number": 10, "keep": '
            f"[0]}}}}, got {data_path}"
        )
    return data_path["path"], Folds.from_params(Params(dict(data_path["folds"]))).select
