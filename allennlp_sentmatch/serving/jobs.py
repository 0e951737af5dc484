"""Computations that a server makes from the inputs of requests."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from allennlp_sentmatch.files.texts import noting
from allennlp_sentmatch.serving.limits import Shape


class Job(ABC):
    """A computation that a server makes from inputs."""

    plural: str = "predictions"  # the name of the results of several inputs
    weight: int = 1  # the number of predictions that cost as much as a result

    mistakes: tuple[type[Exception], ...] = (TypeError, ValueError)
    """The errors whose message is for the caller; while reading, they are the caller's fault."""

    @abstractmethod
    def read(self, inputs: Any) -> tuple[Any, Shape]:
        """Check an input. Return what `compute` takes, and the input's shape, for its cost."""

    @abstractmethod
    def compute(self, batch: list[Any]) -> Iterable[Any]:
        """Return the results of a batch of inputs that have been read, in their order."""

    @abstractmethod
    def dearest(self, num_words: int) -> Any:
        """Return the input that takes the most time and memory at a limit of `num_words`.

        It costs as much as one text of `num_words` words, see `cost`, and is not read yet.
        """

    def try_dearest(self, num_words: int) -> None:
        """Compute the dearest input, of which nothing is logged."""
        content, _ = self.read(self.dearest(num_words))
        with noting(()):
            list(self.compute([content]))
