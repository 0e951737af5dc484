"""What the input of a model costs, and how much a server can afford."""

import logging
import resource

from allennlp.data import Instance

from allennlp_sentmatch.predictors.echoing_predictor import EchoingPredictor
from allennlp_sentmatch.serving.requests import RequestError

logger = logging.getLogger(__name__)

FEWEST_WORDS, MOST_WORDS = 125, 1000
MOST_SECONDS, MOST_KILOBYTES = 10, 4 << 20
"""What the dearest input may take, of one processor's time and of memory."""

Shape = dict[str, tuple[int, int]]
"""For each field of an instance, the number of its texts and the words of the longest one."""


def indexed_shape(predictor: EchoingPredictor, instance: Instance) -> Shape:
    """Index an instance, unless it is indexed, and return its shape."""
    predictor._dataset_reader.apply_token_indexers(instance)
    instance.index_fields(predictor._model.vocab)
    shape = {}
    for name, lengths in instance.get_padding_lengths().items():
        num_texts = lengths.pop("num_fields", 1)
        if lengths:  # metadata have none
            shape[name] = (num_texts, max(lengths.values()))
    return shape


def joined(first: Shape, second: Shape) -> Shape:
    """The shape to which two inputs are padded in a batch."""
    return {
        name: tuple(map(max, first.get(name, (0, 0)), shape))  # type: ignore[misc]
        for name, shape in second.items()
    }


def cost(shape: Shape, num_inputs: int = 1) -> int:
    """The pairs of words in a batch: of the longest text with all texts, padding included.

    Attention, trees and SuBiLSTM compare the words of a text with each other, or with those of
    another text: a model's time and memory grow with this number at most.
    """
    longest = max((length for _, length in shape.values()), default=0)
    return num_inputs * longest * sum(num * length for num, length in shape.values())


def check_cost(shape: Shape, max_words: int) -> None:
    """Check that an input costs no more than one text of `max_words`.

    # Raises

    `RequestError` for one that costs more.
    """
    if cost(shape) > max_words**2:
        counts = ", ".join(f"{name} {n} x {length:,}" for name, (n, length) in shape.items())
        raise RequestError(
            413,
            f"the words of the longest text times those of all texts ({counts}) are limited to "
            f"{max_words:,} x {max_words:,}, which the option --max-words changes",
        )


def affordable_words(predictor: EchoingPredictor) -> int:
    """The words of the longest text whose prediction takes about 10 seconds and 4 GiB at most.

    Found by predictions for longer and longer texts, up to 1,000 words, each of which can take four
    times as long as the one before.
    """
    words = FEWEST_WORDS
    while True:
        before = resource.getrusage(resource.RUSAGE_SELF)
        predictor.predict_example(words)
        after = resource.getrusage(resource.RUSAGE_SELF)
        seconds = after.ru_utime - before.ru_utime
        kilobytes = after.ru_maxrss - before.ru_maxrss
        is_dear = 4 * seconds > MOST_SECONDS or 4 * kilobytes > MOST_KILOBYTES
        if is_dear or words >= MOST_WORDS:
            logger.info("inputs are limited to %d words", words)
            return words
        words *= 2
