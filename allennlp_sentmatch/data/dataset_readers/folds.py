"""Parts of a file, for data sets that come without a validation or a test set."""

from collections.abc import Iterator
from typing import Optional, TypeVar

from allennlp.common import FromParams
from allennlp.common.checks import ConfigurationError

T = TypeVar("T")


class Folds(FromParams):
    """Deals the examples of a file into `number` folds and keeps some of them.

    Example i, counted from 0 within its file, is in fold i mod `number`: no random numbers, and
    where each label has a file of its own the folds have the labels' proportions.

    Two readers with the same `number`, one that drops a fold and one that keeps it, split a file
    into training and validation sets; ten such pairs are a 10-fold cross-validation.

    # Parameters

    number : `int`
        Into how many folds, at least 2.
    keep : `list[int]`, optional (default = `None`)
        The folds to read, counted from 0.
    drop : `list[int]`, optional (default = `None`)
        The folds not to read. Exactly one of `keep` and `drop` is given.
    """

    def __init__(
        self,
        number: int,
        keep: Optional[list[int]] = None,
        drop: Optional[list[int]] = None,
    ) -> None:
        if number < 2:
            raise ConfigurationError(f"folds: number={number}: expected at least 2")
        if (keep is None) == (drop is None):
            raise ConfigurationError(
                f"folds: keep={keep}, drop={drop}: expected exactly one of the two"
            )
        named = set(keep if keep is not None else drop or [])
        every = set(range(number))
        self._number = number
        self._kept = named if keep is not None else every - named
        if not named <= every or not self._kept or not named:
            raise ConfigurationError(
                f"folds: {'drop' if keep is None else 'keep'}={sorted(named)}: expected some of, "
                f"and not all of, the folds 0 to {number - 1}"
            )

    def select(self, examples: Iterator[T]) -> Iterator[T]:
        """Yields the examples of one file that are in the folds kept."""
        return (
            example for index, example in enumerate(examples) if index % self._number in self._kept
        )
