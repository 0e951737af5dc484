"""Computations of a server on the inputs of requests."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from allennlp_sentmatch.files.texts import noting
from allennlp_sentmatch.serving.limits import Shape


class Job(ABC):
    """A computation of a server on inputs.

    # Attributes

    plural : `str`
        The key of the results of several inputs.
    weight : `int`
        A result costs as much as this many predictions.
    mistakes : `tuple[type[Exception], ...]`
        Errors whose messages the caller sees; while reading, they are the caller's fault.
    """

    plural: str = "predictions"
    weight: int = 1
    mistakes: tuple[type[Exception], ...] = (TypeError, ValueError)

    @abstractmethod
    def read(self, inputs: Any) -> tuple[Any, Shape]:
        """Check an input.

        Return the argument of `compute`, and the input's shape, from which its cost is computed.
        Raise one of `mistakes` for an invalid input.
        """

    @abstractmethod
    def compute(self, batch: list[Any]) -> Iterable[Any]:
        """Return the results of a batch of inputs that have been read, in their order."""

    @abstractmethod
    def dearest(self, num_words: int) -> Any:
        """Return the slowest and largest input within a limit of `num_words`.

        It costs as much as one text of `num_words` words, see `cost`, and is not read yet.
        """

    def try_dearest(self, num_words: int) -> None:
        """Compute the most expensive input, without logging."""
        content, _ = self.read(self.dearest(num_words))
        with noting(()):
            list(self.compute([content]))
