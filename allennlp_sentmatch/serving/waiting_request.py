"""A request that waits for a server's results."""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple, Optional

from allennlp_sentmatch.serving.jobs import Job
from allennlp_sentmatch.serving.limits import Shape
from allennlp_sentmatch.serving.request_errors import RequestError

logger = logging.getLogger(__name__)

SMALLEST = 100  # the characters that a shorter input counts as, since every input takes time
SMALL_REQUEST = 5_000  # characters; larger requests are large


class Input(NamedTuple):
    """An input after reading."""

    content: Any
    shape: Shape


class WaitingRequest:
    """A request that waits for the results of its inputs.

    # Parameters

    job : `Job`
    inputs : `Sequence[Any]`
        The inputs that the job reads.
    sizes : `Sequence[int]`
        The characters of each input.
    names : `Sequence[str]`
        The name of each input in errors.

    # Attributes

    results : `list[Any]`
        The results that are known, at the positions of their inputs.
    future : `Future[list[Any]]`
        All results, or the error that ends the request.
    last_turn : `float`
        When a result was last computed, by `time.monotonic`.
    is_small : `bool`
        Whether it has at most `SMALL_REQUEST` characters.
    """

    def __init__(
        self,
        job: Job,
        inputs: Sequence[Any],
        sizes: Sequence[int],
        names: Sequence[str],
    ) -> None:
        self.job = job
        self.names = names
        self.results: list[Any] = [None] * len(inputs)
        self.future: Future[list[Any]] = Future()
        self.last_turn = time.monotonic()
        self._inputs = inputs
        self._sizes = [job.weight * max(size, SMALLEST) for size in sizes]
        # The positions of the inputs to compute, longest first, so that the shortest one is taken
        # first; ties are taken in order.
        positions = reversed(range(len(inputs)))
        self._order = sorted(positions, key=self._sizes.__getitem__, reverse=True)
        self._next: Optional[Input] = None
        self._num_missing = len(inputs)
        self.is_small = self.size <= SMALL_REQUEST

    @property
    def num_inputs(self) -> int:
        """The number of inputs whose batch has not begun."""
        return 0 if self.future.done() else len(self._order)

    @property
    def size(self) -> int:
        """The characters of these inputs; a short one counts as `SMALLEST`."""
        if self.future.done():
            return 0
        positions = self._order.copy()  # the thread removes positions at the same time
        return sum(self._sizes[position] for position in positions)

    def next_input(self) -> Input:
        """Read the shortest input whose batch has not begun.

        Raise `RequestError` for a mistake in it, and any other exception of its job.
        """
        if self._next is None:
            unread = self._inputs[self._order[-1]]
            try:
                content, shape = self.job.read(unread)
            except self.job.mistakes as error:
                raise RequestError(400, str(error)) from error
            self._next = Input(content, shape)
        return self._next

    def next_name(self) -> str:
        """Return the name of the input that `next_input` reads."""
        return self.names[self._order[-1]]

    def take_next(self) -> int:
        """Start computing the input that `next_input` has read, and return its position."""
        self._next = None
        return self._order.pop()

    def finish(self, position: int, result: Any) -> None:
        """Keep the result of an input, or fail if it is an exception."""
        self.last_turn = time.monotonic()
        if isinstance(result, BaseException):
            self.fail(result, self.names[position])
            return
        self.results[position] = result
        self._num_missing -= 1
        if self._num_missing == 0 and self.future.set_running_or_notify_cancel():
            self.future.set_result(self.results)

    def fail(self, error: BaseException, name: str) -> None:
        """Fail with the error of the input called `name`, without the other inputs' results."""
        if self.future.done() or not self.future.set_running_or_notify_cancel():
            return
        if isinstance(error, RequestError):
            named = RequestError(error.status, f"{name.capitalize()}: {error}")
        else:
            logger.error("the model failed", exc_info=error)
            reason = f": {error}" if isinstance(error, self.job.mistakes) else "."
            named = RequestError(500, f"The model failed on {name}{reason}")
        self.future.set_exception(named)
