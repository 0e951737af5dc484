"""Compute results for many callers in batches; requests take turns."""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.serving.batch import Batch, Pace
from allennlp_sentmatch.serving.jobs import Job
from allennlp_sentmatch.serving.limits import MOST_WORDS, Shape, cost, joined, padded_words
from allennlp_sentmatch.serving.request_errors import RequestError
from allennlp_sentmatch.serving.requests import MAX_BYTES
from allennlp_sentmatch.serving.waiting_request import WaitingRequest

MAX_WAITING = 3 * MAX_BYTES  # the characters that may wait; a single request may have more
STALLED_SECONDS = 30  # a request without progress for this time fails


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
        self._open: set[WaitingRequest] = set()  # all unanswered requests
        self._small: deque[WaitingRequest] = deque()
        self._large: deque[WaitingRequest] = deque()
        self._num_turns = 0
        self._paces: defaultdict[Job, Pace] = defaultdict(Pace)
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
        waiting = WaitingRequest(job, inputs, sizes, names)
        self._check_room(waiting)
        self._open.add(waiting)
        self._enqueue(waiting)
        try:
            return await _finished(waiting)
        finally:
            waiting.future.cancel()
            self._open.discard(waiting)

    def _check_room(self, waiting: WaitingRequest) -> None:
        """Raise `RequestError` if a request has no room beside those that wait already."""
        before = sum(other.size for other in self._open)
        if before and before + waiting.size > MAX_WAITING:
            room = max(0, MAX_WAITING - before)
            raise RequestError(
                503,
                f"Too many requests are waiting. There is room for {room:,} characters now, and "
                f"this request counts as {waiting.size:,}; try again later.",
            )

    def _enqueue(self, waiting: WaitingRequest) -> None:
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
        self._paces[batch.job].adapt(batch.num_words, seconds, batch.words_ran_out)
        for (waiting, position), result in zip(batch.places, results):
            waiting.finish(position, result)
        requests = dict.fromkeys(waiting for waiting, _ in batch.places)  # in order, each once
        for waiting in requests:
            if waiting.num_inputs:
                self._enqueue(waiting)

    def _next_batch(self) -> Optional[Batch]:
        """Take requests out of a queue, in order, as long as their inputs fit into a batch."""
        queue = self._next_queue()
        batch: Optional[Batch] = None
        while queue:
            first = queue[0]
            if batch is None or not batch.contents:
                batch = Batch(first.job)
            num_before = len(batch.contents)
            if first.job is batch.job:
                self._fill(batch, first)
            else:
                batch.is_full = True
            if batch.is_full and len(batch.contents) == num_before:
                break  # its turn comes later
            queue.popleft()
        return batch if batch is not None and batch.contents else None

    def _next_queue(self) -> deque[WaitingRequest]:
        """Return the queue whose turn it is: every third turn belongs to large requests."""
        self._num_turns += 1
        if self._num_turns % 3 == 0:
            return self._large or self._small
        return self._small or self._large

    def _fill(self, batch: Batch, waiting: WaitingRequest) -> None:
        """Move a request's inputs into a batch until it is full.

        A refused input ends the request.
        """
        while waiting.num_inputs:
            try:
                new = waiting.next_input()
                self._check_cost(batch.job, new.shape)
            except BaseException as error:  # a panic of a tokenizer in Rust is no `Exception`
                waiting.fail(error, waiting.next_name())
                return
            self._check_space(batch, new.shape)
            if batch.is_full:
                return
            batch.take(waiting, new)

    def _check_space(self, batch: Batch, shape: Shape) -> None:
        """Mark a batch as full if an input of this shape does not fit into it."""
        if not batch.contents:
            return
        number = len(batch.contents) + 1
        padded = joined(batch.shape, shape)
        num_words = padded_words(padded, number)
        has_too_many = number > self._batch_size
        costs_too_much = self._costs_too_much(batch.job, padded, number)
        batch.words_ran_out = num_words > self._paces[batch.job].num_words
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


async def _finished(waiting: WaitingRequest) -> list[Any]:
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
    except BaseException as error:
        if len(contents) == 1:
            return [error]
        return [result for content in contents for result in _computed(job, [content])]
