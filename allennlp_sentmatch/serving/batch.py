"""Inputs that are computed together, and how many of them."""

from typing import Any

from allennlp_sentmatch.serving.jobs import Job
from allennlp_sentmatch.serving.limits import Shape, joined, padded_words
from allennlp_sentmatch.serving.waiting_request import Input, WaitingRequest

TURN_SECONDS = 0.15  # the target processor time of a batch of several inputs
FIRST_WORDS = 32  # the words of a job's first batch, before its speed is known


class Pace:
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


class Batch:
    """Inputs of one job that are computed in one turn.

    # Attributes

    places : `list[tuple[WaitingRequest, int]]`
        The request of each input, and the input's position in it.
    contents : `list[Any]`
        The inputs, after reading.
    shape : `Shape`
        The shape to which the inputs are padded.
    is_full : `bool`
        Whether the next input does not fit.
    words_ran_out : `bool`
        Whether it is full because of `Pace`, rather than because of `batch_size`.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.places: list[tuple[WaitingRequest, int]] = []
        self.contents: list[Any] = []
        self.shape: Shape = {}
        self.is_full = False
        self.words_ran_out = False

    @property
    def num_words(self) -> int:
        """The words in the batch, padding included."""
        return padded_words(self.shape, len(self.contents))

    def take(self, waiting: WaitingRequest, new: Input) -> None:
        """Add the input that a request has read."""
        self.shape = joined(self.shape, new.shape)
        self.contents.append(new.content)
        self.places.append((waiting, waiting.take_next()))
