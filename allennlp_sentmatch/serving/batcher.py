"""Answers for many callers in batches."""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Callable

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.serving.limits import MOST_WORDS, Shape, cost, joined
from allennlp_sentmatch.serving.requests import MAX_BYTES, RequestError

logger = logging.getLogger(__name__)

SMALLEST = 100  # the characters that an input counts as at least, since it takes time however short


@dataclass(frozen=True, eq=False)
class Job:
    """A computation that a server makes from an input."""

    # Reads an input: gives what `compute` takes, and the input's shape, for its cost.
    read: Callable[[Any], tuple[Any, Shape]]
    compute: Callable[[list[Any]], Iterable[Any]]  # gives the answers to a batch of inputs
    plural: str = "predictions"  # the name of the answers to several inputs
    weight: int = 1  # the number of predictions that cost as much as an answer
    # The errors whose message is for the caller; while reading, they are the caller's fault.
    mistakes: tuple[type[Exception], ...] = (TypeError, ValueError)


@dataclass(eq=False)
class _Waiting:
    """An input that waits for its answer, or for the error in its place."""

    job: Job
    inputs: Any
    size: int
    answer: "Future[Any]" = field(default_factory=Future)
    read: Any = None
    shape: Shape = field(default_factory=dict)


class Batcher:
    """Computes one batch after the other, of the inputs that have come meanwhile.

    A caller who is alone does not wait for others. Inputs of several callers share a batch in the
    order in which they came, as long as they are for the same job and the batch costs no more than
    the dearest single input. An input that fails does not affect the others of its batch. An input
    whose caller has left is not computed.

    All jobs read and compute in one thread. A batch has `batch_size` inputs at most. An input is
    refused if it costs more than one text of `max_words` words; see `cost`. A number below 1 is a
    `ValueError`.
    """

    def __init__(self, batch_size: int = 32, max_words: int = MOST_WORDS) -> None:
        check_positive(batch_size=batch_size, max_words=max_words)
        self._batch_size = batch_size
        self._max_words = max_words
        self._waiting: deque[_Waiting] = deque()
        self._thread = ThreadPoolExecutor(1)

    @property
    def num_waiting(self) -> int:
        """The number of inputs whose batch has not begun."""
        return len(self._sizes())

    def _sizes(self) -> list[int]:
        # Copied, since the thread takes inputs out meanwhile.
        return [one.size for one in [*self._waiting] if not one.answer.cancelled()]

    async def __call__(
        self, job: Job, inputs: Sequence[Any], sizes: Sequence[int], names: Sequence[str]
    ) -> list[Any]:
        """The answers to some inputs of `sizes` characters.

        A `RequestError` if too many inputs wait already, if one cannot be read or costs too much,
        and if the model fails; it uses the `names` of the inputs.
        """
        new = [_Waiting(job, x, job.weight * max(size, SMALLEST)) for x, size in zip(inputs, sizes)]
        before = sum(self._sizes())
        if before and before + sum(one.size for one in new) > MAX_BYTES:
            raise RequestError(503, "Too many requests are waiting; try again later.")
        self._waiting.extend(new)
        for _ in new:  # each batch takes one of the inputs at least
            self._thread.submit(self._compute_next)
        waiting = [asyncio.wrap_future(one.answer) for one in new]
        answers = await asyncio.gather(*waiting, return_exceptions=True)
        for name, answer in zip(names, answers):
            if isinstance(answer, RequestError):
                raise RequestError(answer.status, f"{name.capitalize()}: {answer}")
            if isinstance(answer, BaseException):
                reason = f": {answer}" if isinstance(answer, job.mistakes) else "."
                raise RequestError(500, f"The model failed on {name}{reason}")
        return answers

    def _compute_next(self) -> None:
        batch = self._next_batch()
        if batch:
            answers = _compute_each(batch[0].job, [waiting.read for waiting in batch])
            for waiting, answer in zip(batch, answers):
                _answer(waiting, answer)

    def _next_batch(self) -> list[_Waiting]:
        """The inputs that share the next batch, without those that nobody waits for any more."""
        batch: list[_Waiting] = []
        shape: Shape = {}
        while self._waiting and len(batch) < self._batch_size:
            first = self._waiting[0]
            if not first.answer.cancelled() and self._is_read(first):
                shape = joined(shape, first.shape)
                costs_too_much = self._costs_too_much(first.job, shape, len(batch) + 1)
                if batch and (first.job is not batch[0].job or costs_too_much):
                    break
                batch.append(first)
            self._waiting.popleft()
        return [one for one in batch if one.answer.set_running_or_notify_cancel()]

    def _costs_too_much(self, job: Job, shape: Shape, num_inputs: int = 1) -> bool:
        return job.weight * cost(shape, num_inputs) > self._max_words**2

    def _is_read(self, waiting: _Waiting) -> bool:
        """Read an input, unless it has been read. One that is refused is answered here."""
        if waiting.shape:
            return True
        try:
            waiting.read, shape = waiting.job.read(waiting.inputs)
            if self._costs_too_much(waiting.job, shape):
                counts = ", ".join(f"{name} {n} x {words:,}" for name, (n, words) in shape.items())
                weight = waiting.job.weight
                times = f", {weight} times" if weight > 1 else ""
                raise RequestError(
                    413,
                    f"the words of the longest text times the words of all texts ({counts}){times} "
                    f"are limited to {self._max_words:,} x {self._max_words:,} (--max-words)",
                )
            waiting.shape = shape
            return True
        except Exception as error:
            if waiting.answer.set_running_or_notify_cancel():
                is_mistake = isinstance(error, waiting.job.mistakes)
                _answer(waiting, RequestError(400, str(error)) if is_mistake else error)
            return False


def _answer(waiting: _Waiting, answer: Any) -> None:
    if not isinstance(answer, Exception):
        waiting.answer.set_result(answer)
        return
    if not isinstance(answer, RequestError):
        logger.error("the model failed", exc_info=answer)
    waiting.answer.set_exception(answer)


def _compute_each(job: Job, inputs: list[Any]) -> list[Any]:
    """The answers to a batch; if it fails, those to its inputs one by one, or their errors."""
    try:
        return [*job.compute(inputs)]
    except Exception as error:
        if len(inputs) == 1:
            return [error]
        return [answer for one in inputs for answer in _compute_each(job, [one])]
