"""Encoders without meaning: of few words, on which estimators can learn, and of numbers."""

import numpy
import torch

from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.splitters import RuleSplitter
from allennlp_sentmatch.standalone.text_indexer import TextIndexer

WORDS = ["@@PADDING@@", "@@UNKNOWN@@", "a", "cat", "dog", "man", "sleeps", "runs", "not", "sees"]

SENTENCES = [
    "a cat sleeps",
    "a cat runs",
    "a dog sleeps",
    "a dog runs",
    "a man sleeps",
    "a man runs",
]
PAIRS = [(first, second) for first in SENTENCES for second in SENTENCES]
"""Every pair of six sentences."""


def is_same_verb(first, second):
    return first.split()[-1] == second.split()[-1]


LABELS = ["same" if is_same_verb(first, second) else "other" for first, second in PAIRS]
"""Whether the verbs agree."""


def num_shared_words(first, second):
    return len(set(first.split()) & set(second.split()))


SCORES = [float(num_shared_words(first, second)) for first, second in PAIRS]
"""How many words they share: 1 to 3."""


def tiny_encoder(size: int = 8) -> StandaloneEncoder:
    torch.manual_seed(0)
    known = {word: index for index, word in enumerate(WORDS) if index}
    indexer = TextIndexer(RuleSplitter(), known, unknown=1, empty=1)
    settings = {
        "type": "pooled",
        "encoder": {"type": "pass_through", "input_size": size},
        "pooling": ["mean", "max"],
    }
    return StandaloneEncoder(indexer, WORDS, size, settings).eval()


class Numbers:
    """Encodes sentences that end in a number, which determines the vectors.

    Vectors of different numbers are unrelated, so that nothing can be learned from them.
    """

    def __init__(self, size: int = 16) -> None:
        self.size = size

    def encode(self, sentences: list[str]) -> numpy.ndarray:
        return numpy.array([self.vector(int(text.split()[-1])) for text in sentences])

    def vector(self, seed: int) -> numpy.ndarray:
        return numpy.random.default_rng(seed).standard_normal(self.size)
