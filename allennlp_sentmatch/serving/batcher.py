"""Compute results for many callers in batches; requests take turns."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, Optional

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.serving.jobs import Job
from allennlp_sentmatch.serving.limits import MOST_WORDS, Shape, cost, joined, padded_words
from allennlp_sentmatch.serving.requests import MAX_BYTES, RequestError

logger = logging.getLogger(__name__)

SMALLEST = 100  # the characters that a shorter input counts as, since every input takes time
MAX_WAITING = 3 * MAX_BYTES  # the characters that may wait; a single request may have more
SMALL_REQUEST = 5_000  # characters; larger requests are large

TURN_SECONDS = 0.15  # the target processor time of a batch of several inputs
FIRST_WORDS = 32  # the words of a job's first batch, before its speed is known
STALLED_SECONDS = 30  # a request without progress for this time fails


class _Input(NamedTuple):
    """An input after reading."""

    content: Any
    shape: Shape


class _Waiting:
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
        self._next: Optional[_Input] = None
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

    def next_input(self) -> _Input:
        """Read the shortest input whose batch has not begun.

        Raise `RequestError` for a mistake in it, and any other exception of its job.
        """
        if self._next is None:
            unread = self._inputs[self._order[-1]]
            try:
                content, shape = self.job.read(unread)
            except self.job.mistakes as error:
                raise RequestError(400, str(error)) from error
            self._next = _Input(content, shape)
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
        if isinstance(result, Exception):
            self.fail(result, self.names[position])
            return
        self.results[position] = result
        self._num_missing -= 1
        if self._num_missing == 0 and self.future.set_running_or_notify_cancel():
            self.future.set_result(self.results)

    def fail(self, error: Exception, name: str) -> None:
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


class _Pace:
    """The number of words, including padding, that a job computes in a turn.

    A turn should take `TURN_SECONDS`, or twice the job's shortest turn: a model that is as fast for
    several inputs as for one computes several.
    """

    def __init__(self) -> None:
        self.num_words = float(FIRST_WORDS)
        self._shortest = float("inf")

    def adapt(self, num_words: int, seconds: float, was_full: bool) -> None:
        """Learn from the words and the seconds of a turn.

        `was_full` is whether more words were waiting than it could take.
        """
        self._shortest = min(self._shortest, seconds)
        limit = max(TURN_SECONDS, 2 * self._shortest)
        if seconds > limit:
            self.num_words = num_words * limit / seconds
        elif was_full:
            self.num_words *= 2


class _Batch:
    """Inputs of one job that are computed in one turn.

    # Attributes

    places : `list[tuple[_Waiting, int]]`
        The request of each input, and the input's position in it.
    contents : `list[Any]`
        The inputs, after reading.
    shape : `Shape`
        The shape to which the inputs are padded.
    is_full : `bool`
        Whether the next input does not fit.
    words_ran_out : `bool`
        Whether it is full because of `_Pace`, rather than because of `batch_size`.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.places: list[tuple[_Waiting, int]] = []
        self.contents: list[Any] = []
        self.shape: Shape = {}
        self.is_full = False
        self.words_ran_out = False

    @property
    def num_words(self) -> int:
        """The words in the batch, padding included."""
        return padded_words(self.shape, len(self.contents))

    def take(self, waiting: _Waiting, new: _Input) -> None:
        """Add the input that a request has read."""
        self.shape = joined(self.shape, new.shape)
        self.contents.append(new.content)
        self.places.append((waiting, waiting.take_next()))


class Batcher:
    """Computes batches one after another; requests take turns.

    A caller who is alone does not wait for others. The inputs of a request are computed in the
    order of their lengths. Inputs of several requests for the same job share a batch, as long as it
    costs no more than the most expensive single input and takes about `TURN_SECONDS`. The rest of a
    request waits behind the other requests for its next turn. Two of three turns belong to small
    requests, so that these wait for at most one batch of large requests. An input that fails does
    not affect other requests in its batch. Inputs of a caller who has left are not computed.

    All jobs read and compute in one thread. A batch has at most `batch_size` inputs. An input is
    refused if it costs more than one text of `max_words` words; see `cost`. Raises `ValueError` for
    a number below 1.
    """

    def __init__(self, batch_size: int = 32, max_words: int = MOST_WORDS) -> None:
        check_positive(batch_size=batch_size, max_words=max_words)
        self._batch_size = batch_size
        self._max_words = max_words
        self._open: set[_Waiting] = set()  # all unanswered requests
        self._small: deque[_Waiting] = deque()
        self._large: deque[_Waiting] = deque()
        self._num_turns = 0
        self._paces: dict[Job, _Pace] = {}
        # At least one task for each request in a queue: each task takes a request out.
        self._thread = ThreadPoolExecutor(1)

    @property
    def num_waiting(self) -> int:
        """The number of inputs whose batch has not begun."""
        return sum(waiting.num_inputs for waiting in self._open)

    async def __call__(
        self,
        job: Job,
        inputs: Sequence[Any],
        sizes: Sequence[int],
        names: Sequence[str],
    ) -> list[Any]:
        """Return the results of some inputs of `sizes` characters, in order.

        Raise `RequestError` if too many inputs are waiting, if one cannot be read or costs too
        much, if the model fails, and if nothing was computed for `STALLED_SECONDS`. It uses the
        inputs' `names`.
        """
        if not inputs:
            return []
        waiting = _Waiting(job, inputs, sizes, names)
        self._check_room(waiting)
        self._open.add(waiting)
        self._enqueue(waiting)
        try:
            return await _finished(waiting)
        finally:
            waiting.future.cancel()
            self._open.discard(waiting)

    def _check_room(self, waiting: _Waiting) -> None:
        """Raise `RequestError` if a request has no room beside those that wait already."""
        before = sum(other.size for other in self._open)
        if before and before + waiting.size > MAX_WAITING:
            room = max(0, MAX_WAITING - before)
            raise RequestError(
                503,
                f"Too many requests are waiting. There is room for {room:,} characters now, and "
                f"this request counts as {waiting.size:,}; try again later.",
            )

    def _enqueue(self, waiting: _Waiting) -> None:
        queue = self._small if waiting.is_small else self._large
        queue.append(waiting)
        self._thread.submit(self._take_turn)

    def _take_turn(self) -> None:
        """Compute the next batch."""
        batch = self._next_batch()
        if batch is None:
            return
        # Processor time, not the clock: on a busy machine, batches would become ever smaller.
        start = time.thread_time()
        results = _computed(batch.job, batch.contents)
        seconds = time.thread_time() - start
        self._pace(batch.job).adapt(batch.num_words, seconds, batch.words_ran_out)
        computed: dict[_Waiting, None] = {}  # in the order of their turns
        for (waiting, position), result in zip(batch.places, results):
            waiting.finish(position, result)
            computed[waiting] = None
        for waiting in computed:
            if waiting.num_inputs:
                self._enqueue(waiting)

    def _next_batch(self) -> Optional[_Batch]:
        """Take requests out of a queue, in order, as long as their inputs fit into a batch."""
        queue = self._next_queue()
        batch: Optional[_Batch] = None
        while queue:
            first = queue[0]
            if batch is None or not batch.contents:
                batch = _Batch(first.job)
            num_before = len(batch.contents)
            if first.job is batch.job:
                self._fill(batch, first)
            else:
                batch.is_full = True
            if batch.is_full and len(batch.contents) == num_before:
                break  # its turn comes later
            queue.popleft()
        return batch if batch is not None and batch.contents else None

    def _next_queue(self) -> deque[_Waiting]:
        """Return the queue whose turn it is: every third turn belongs to large requests."""
        self._num_turns += 1
        if self._num_turns % 3 == 0:
            return self._large or self._small
        return self._small or self._large

    def _fill(self, batch: _Batch, waiting: _Waiting) -> None:
        """Move a request's inputs into a batch until it is full.

        A refused input ends the request.
        """
        while waiting.num_inputs:
            try:
                new = waiting.next_input()
                self._check_cost(batch.job, new.shape)
            except Exception as error:
                waiting.fail(error, waiting.next_name())
                return
            self._check_space(batch, new.shape)
            if batch.is_full:
                return
            batch.take(waiting, new)

    def _check_space(self, batch: _Batch, shape: Shape) -> None:
        """Mark a batch as full if an input of this shape does not fit into it."""
        if not batch.contents:
            return
        number = len(batch.contents) + 1
        padded = joined(batch.shape, shape)
        num_words = padded_words(padded, number)
        has_too_many = number > self._batch_size
        costs_too_much = self._costs_too_much(batch.job, padded, number)
        batch.words_ran_out = num_words > self._pace(batch.job).num_words
        batch.is_full = has_too_many or costs_too_much or batch.words_ran_out

    def _check_cost(self, job: Job, shape: Shape) -> None:
        """Raise `RequestError` if an input of this shape costs too much."""
        if not self._costs_too_much(job, shape, num_inputs=1):
            return
        of_fields = [f"{name} {num} x {words:,}" for name, (num, words) in shape.items()]
        counts = ", ".join(of_fields)
        times = f", {job.weight} times" if job.weight > 1 else ""
        raise RequestError(
            413,
            f"the words of the longest text times the words of all texts ({counts}){times} are "
            f"limited to {self._max_words:,} x {self._max_words:,} (--max-words)",
        )

    def _costs_too_much(self, job: Job, shape: Shape, num_inputs: int) -> bool:
        return job.weight * cost(shape, num_inputs) > self._max_words**2

    def _pace(self, job: Job) -> _Pace:
        return self._paces.setdefault(job, _Pace())


async def _finished(waiting: _Waiting) -> list[Any]:
    """Wait for all results of a request while there is progress."""
    results = asyncio.wrap_future(waiting.future)
    while True:
        is_done, _ = await asyncio.wait([results], timeout=STALLED_SECONDS)
        if is_done:
            return results.result()
        if time.monotonic() - waiting.last_turn >= STALLED_SECONDS:
            raise RequestError(503, "The model is too busy; try again later.")


def _computed(job: Job, contents: list[Any]) -> list[Any]:
    """Return the results of a batch or, if it fails, the results or errors of single inputs."""
    try:
        return list(job.compute(contents))
    except Exception as error:
        if len(contents) == 1:
            return [error]
        return [result for content in contents for result in _computed(job, [content])]
