"""Predictions for many callers in batches."""

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Callable, Optional, TypeVar, Union

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict

from allennlp_sentmatch.serving.requests import MAX_BYTES, MAX_TEXT, RequestError

logger = logging.getLogger(__name__)

Input = TypeVar("Input")
Output = TypeVar("Output")

MAX_BATCH = 2 * MAX_TEXT
"""The largest product of a batch's inputs and the characters of its longest one."""

SMALLEST = 100
"""The characters that an input counts as at least: it takes time and memory however short."""


@dataclass(eq=False)
class _Waiting:
    """An input that waits for its prediction, or for the error in its place."""

    inputs: JsonDict
    size: int
    answer: "asyncio.Future[Union[JsonDict, Exception]]"


class Batcher:
    """Predicts one batch after the other, of the inputs that have come meanwhile.

    A caller who is alone does not wait for others. Inputs of several callers share a batch in the
    order in which they came; long ones share it with fewer. An input that fails does not affect
    the others of its batch.

    # Parameters

    predict : `Callable[[list[JsonDict]], list[JsonDict]]`
        Makes the predictions of a batch, in a thread of its own.
    batch_size : `int`, optional (default = `32`)
        The largest number of inputs in a batch.

    # Raises

    `ConfigurationError` for a batch size below 1.
    """

    def __init__(
        self, predict: Callable[[list[JsonDict]], list[JsonDict]], batch_size: int = 32
    ) -> None:
        if batch_size < 1:
            raise ConfigurationError(f"batch_size must be at least 1, got {batch_size}")
        self._predict = predict
        self._batch_size = batch_size
        self._waiting: deque[_Waiting] = deque()
        self._thread = ThreadPoolExecutor(1)
        self._work: Optional[asyncio.Task[None]] = None

    @property
    def num_waiting(self) -> int:
        """The number of inputs whose batch has not begun."""
        return len(self._waiting)

    async def __call__(self, inputs: Sequence[JsonDict], sizes: Sequence[int]) -> list[JsonDict]:
        """The predictions for some inputs of `sizes` characters.

        # Raises

        `RequestError` if too many inputs wait already, or where the model cannot read an input.
        """
        loop = asyncio.get_running_loop()
        new = [
            _Waiting(one, max(size, SMALLEST), loop.create_future())
            for one, size in zip(inputs, sizes)
        ]
        before = sum(waiting.size for waiting in self._waiting)
        if before and before + sum(waiting.size for waiting in new) > MAX_BYTES:
            raise RequestError(503, "Too many requests are waiting; try again later.")
        self._waiting.extend(new)
        if self._work is None or self._work.done():
            self._work = loop.create_task(self._predict_all())
        answers = await asyncio.gather(*(waiting.answer for waiting in new))
        predictions = []
        for number, answer in enumerate(answers, start=1):
            if isinstance(answer, ConfigurationError):
                raise RequestError(400, f"Input {number}: {answer.message}")
            if isinstance(answer, Exception):
                raise RequestError(500, f"The model failed on input {number}.")
            predictions.append(answer)
        return predictions

    async def _predict_all(self) -> None:
        loop = asyncio.get_running_loop()
        while batch := self._next_batch():
            inputs = [waiting.inputs for waiting in batch]
            answers = await loop.run_in_executor(self._thread, predict_each, self._predict, inputs)
            for waiting, answer in zip(batch, answers):
                if isinstance(answer, Exception) and not isinstance(answer, ConfigurationError):
                    logger.error("the model failed", exc_info=answer)
                if not waiting.answer.done():
                    waiting.answer.set_result(answer)

    def _next_batch(self) -> list[_Waiting]:
        """The inputs that share the next batch, without those that nobody waits for any more."""
        batch: list[_Waiting] = []
        longest = 0
        while self._waiting and len(batch) < self._batch_size:
            first = self._waiting[0]
            if not first.answer.done():
                longest = max(longest, first.size)
                if batch and longest * (len(batch) + 1) > MAX_BATCH:
                    break
                batch.append(first)
            self._waiting.popleft()
        return batch


def predict_each(
    predict: Callable[[list[Input]], list[Output]], inputs: list[Input]
) -> list[Union[Output, Exception]]:
    """The predictions of a batch; if it fails, those of its inputs one by one, or their errors."""
    try:
        return [*predict(inputs)]
    except Exception as error:
        if len(inputs) == 1:
            return [error]
        return [answer for one in inputs for answer in predict_each(predict, [one])]
