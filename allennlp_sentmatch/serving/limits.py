"""The cost of a model's input, and a server's limit for it."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # encoders are served without AllenNLP
    from allennlp.data import Instance

    from allennlp_sentmatch.serving.jobs import Job

FEWEST_WORDS = 125
MOST_WORDS = 1000
MAX_TEXT = 20_000  # the characters of all texts of an input
MOST_SECONDS = 10
MOST_KILOBYTES = 4 * 1024 * 1024

Shape = dict[str, tuple[int, int]]
"""For each field of an instance, the number of texts and the words of the longest one."""


def shape_of(instance: Instance) -> Shape:
    """Return the shape of an indexed instance. Only fields of texts have words."""
    from allennlp_sentmatch.data.instances import texts_of

    shape = {}
    for name, field in instance.fields.items():
        if texts_of(field):
            lengths = field.get_padding_lengths()
            num_texts = lengths.pop("num_fields", 1)
            shape[name] = (num_texts, max(lengths.values()))
    return shape


def joined(first: Shape, second: Shape) -> Shape:
    """Return the shape to which two inputs are padded in a batch."""
    shape = {}
    for name, (num_texts, num_words) in second.items():
        other_texts, other_words = first.get(name, (0, 0))
        shape[name] = (max(num_texts, other_texts), max(num_words, other_words))
    return shape


def padded_words(shape: Shape, num_inputs: int = 1) -> int:
    """Return the number of words in a batch of `num_inputs` of this shape, padding included."""
    of_one = sum(num_texts * length for num_texts, length in shape.values())
    return num_inputs * of_one


def cost(shape: Shape, num_inputs: int = 1) -> int:
    """Return the pairs of words in a batch, of the longest text with all texts, including padding.

    Attention, trees and SuBiLSTM compare the words of a text with each other, or with the words of
    another text: a model's time and memory grow at most with this number.
    """
    longest = max((length for _, length in shape.values()), default=0)
    return longest * padded_words(shape, num_inputs)


def affordable_words(job: Job) -> int:
    """Return the words, from 125 to 1,000, to which a job's inputs are limited by default.

    The most expensive input then takes about 10 seconds of processor time and 4 GiB. Each input
    tried can take four times as much as the one before.
    """
    words = FEWEST_WORDS
    while words < MOST_WORDS:
        seconds, kilobytes = _usage(job, words)
        if 4 * seconds > MOST_SECONDS or 4 * kilobytes > MOST_KILOBYTES:
            break
        words *= 2
    return words


def _usage(job: Job, num_words: int) -> tuple[float, int]:
    """Return the processor time and the additional memory of a job's most expensive input.

    The time is in seconds, and the memory in kilobytes, as Linux gives it.
    """
    before = resource.getrusage(resource.RUSAGE_SELF)
    job.try_dearest(num_words)
    after = resource.getrusage(resource.RUSAGE_SELF)
    seconds = after.ru_utime - before.ru_utime
    kilobytes = after.ru_maxrss - before.ru_maxrss
    return seconds, kilobytes
