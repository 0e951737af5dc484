"""Vectors of texts by a sentence encoder, for the texts of many requests together."""

import logging
from typing import Any, NamedTuple

import numpy

from allennlp_sentmatch.array_types import FloatArray
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.files.texts import noting
from allennlp_sentmatch.serving.jobs import Job
from allennlp_sentmatch.serving.limits import Shape
from allennlp_sentmatch.standalone.splitters import LettersDigitsSplitter

logger = logging.getLogger(__name__)

_SPLITTER = LettersDigitsSplitter()
"""Finds at least as many words as any word splitter, for example more in "a1b2c3"."""


def num_words(text: str) -> int:
    """Return the approximate number of words and marks in a text, at least 1."""
    return max(1, len(_SPLITTER.words_of_chunk(text) or ()))


def num_encoded(network: Any, text: str) -> int:
    """Return how many words or word pieces of a text an encoder reads.

    # Parameters

    network : `Any`
        An encoder of this package, a `SentenceTransformer`, or another object with `encode`, for
        which the result is an estimate, `num_words`.
    text : `str`
    """
    if hasattr(network, "num_words"):
        return int(network.num_words(text))
    # The second name is from before sentence-transformers 5.3.
    tokenize = getattr(network, "preprocess", getattr(network, "tokenize", None))
    if tokenize is None:
        return num_words(text)
    indices = tokenize([text])["input_ids"]  # (1, T)
    return int(indices.shape[-1])


class Text(NamedTuple):
    """A text to encode, and the method of `SentenceEncoder` that encodes it."""

    content: str
    method: str = "encode"


class Encoding(NamedTuple):
    """The vector (E,) of a text, and how many words or word pieces were encoded."""

    vector: FloatArray
    num_words: int


class EncodingJob(Job):
    """Computes vectors of texts with a sentence encoder.

    The log has a warning about the first text that is cut or has no known word, and not about
    others.
    """

    plural = "embeddings"

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder
        self._has_warned = False

    def read(self, inputs: Text) -> tuple[tuple[Text, int], Shape]:
        """Return the text, and the number of its words or word pieces that will be encoded."""
        number = num_encoded(self._encoder.network, inputs.content)
        return (inputs, number), {"text": (1, number)}

    def compute(self, batch: list[tuple[Text, int]]) -> list[Encoding]:
        """Encode texts, and all those with the same method together.

        A text is given with the number of its words that are encoded.
        """
        contents = [text.content for text, _ in batch]
        methods = [text.method for text, _ in batch]
        shape = (len(batch), self._encoder.vector_size)
        vectors = numpy.empty(shape, dtype=numpy.float32)
        with noting(contents, warn=self._warn_once):
            for method in set(methods):
                encode = getattr(self._encoder, method)
                rows = [row for row, other in enumerate(methods) if other == method]
                vectors[rows] = encode([contents[row] for row in rows])
        return [Encoding(vector, number) for vector, (_, number) in zip(vectors, batch)]

    def dearest(self, num_words: int) -> Text:
        """Return a text of this many words."""
        return Text(" ".join(["example"] * num_words))

    def _warn_once(self, message: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            logger.warning("%s; later texts of this kind are not logged", message)
