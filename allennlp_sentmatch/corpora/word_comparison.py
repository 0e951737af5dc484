"""The words of two sentences compared: those they share, negation and numbers.

A sentence's vector nearly loses what a single word changes ("not", "three"), and a hundred labels
are too few to find it in hundreds of features. These are few, and for English.
"""

import re
from collections.abc import Callable, Sequence
from math import log1p
from typing import Any, Optional
from unicodedata import normalize

import numpy
from torch import Tensor

from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.standalone.encoder import FloatArray

WORD_ORDERS = ("ordered", "unordered", None)
"""How the features of words are read: by the order of the sentences, without it, or not."""

NUM_COMPARED = 12  # the features of `compare_words`

_NEGATION = re.compile(
    "n't|cannot|hardly|neither|never|no|nobody|none|nor|not|nothing|nowhere|without"
)
_NUMBERS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6"}
_NUMBERS |= {"seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12"}
_FUNCTION_WORDS = {
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "both", "but", "by", "can", "could", "did", "do",
    "does", "during", "each", "for", "from", "had", "has", "have", "he", "her", "here", "him",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "may", "me", "might",
    "more", "most", "must", "my", "of", "off", "on", "onto", "or", "other", "our", "out",
    "over", "own", "shall", "she", "should", "so", "some", "such", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "through", "to", "too",
    "under", "until", "up", "us", "very", "was", "we", "were", "what", "when", "where", "which",
    "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
}  # fmt: skip
_WORD = re.compile(r"n't\b|\w+?(?=n't\b)|\w+(?:[.,]\d+)*")
_NUMBER = re.compile(r"(?:(?<![\w.])(?:-\.?|\.)(?=\d))?\w+(?:[.,]\d+)*")  # "-5", ".5", or a word


def compare_words(first: str, second: str, ordered: bool = True) -> list[float]:
    """Twelve features of a pair, from the words in lower case with numbers in digits.

    The shares of each sentence's words and of its pairs of neighbors that the other one has (4),
    the negations in each, at most 2, and their difference (3), whether the numbers differ (1), the
    logarithms of the lengths (2), and the shares of each sentence's content words that the other
    one has (2). Where two of them are of one sentence each, they are in the order of the sentences
    or, unless `ordered`, of their sizes.
    """
    features: list[float] = []
    words = [_words(text) for text in (first, second)]
    features += _shared(*map(set, words))
    features += _shared(*(set(zip(side, side[1:])) for side in words))
    negations = [_num_negations(side) for side in words]
    features += [min(count, 2) for count in negations]
    features.append(min(abs(negations[0] - negations[1]), 2))
    numbers = [{word for word in side if word[0].isdigit()} for side in words]
    features.append(numbers[0] != numbers[1])
    features += [log1p(len(side)) for side in words]
    features += _shared(*({*side} - _FUNCTION_WORDS for side in words))
    if not ordered:
        for i in (0, 2, 4, 8, 10):
            features[i : i + 2] = sorted(features[i : i + 2])
    return features


def word_features(
    first: Sequence[str], second: Sequence[str], order: Optional[str], encoder: SentenceEncoder
) -> Optional[FloatArray]:
    """Return the features (N, K) of the words of N pairs, in one of `WORD_ORDERS`."""
    if order is None:
        return None
    ordered = order == "ordered"
    compared = [compare_words(*pair, ordered) for pair in zip(first, second)]
    features = numpy.array(compared, numpy.float32).reshape(-1, NUM_COMPARED)
    compare = _coverage(encoder)
    if compare is None:
        return features
    covered = compare(first, second).numpy()  # (N, 4): twice both sentences
    if not ordered:
        covered = numpy.sort(covered.reshape(-1, 2, 2), axis=2).reshape(-1, 4)
    return numpy.hstack([features, covered])


def num_features(encoder: SentenceEncoder) -> int:
    """Count the features of words (K): `compare_words` and, if it can, the encoder's coverage."""
    return NUM_COMPARED if _coverage(encoder) is None else NUM_COMPARED + 4


def negations_and_numbers(text: str) -> tuple[int, tuple[str, ...]]:
    """How often a text negates, and its words with a digit in their order.

    Numbers are in digits and have their signs.
    """
    words = _words(text.replace("\u2212", "-"), _NUMBER)
    numbers = (w for w in words if any(c.isnumeric() and not c.isalpha() for c in w))  # also ½
    return _num_negations(_words(text)), tuple(numbers)


def _coverage(encoder: SentenceEncoder) -> Optional[Callable[..., Tensor]]:
    """Return the method `word_coverage` of an encoder that has vectors of words, or `None`."""
    return getattr(encoder.network, "word_coverage", None)


def _shared(first: set[Any], second: set[Any]) -> list[float]:
    """Return the share of each side's elements that the other side has, too."""
    common = len(first & second)
    return [common / max(1, len(first)), common / max(1, len(second))]


def _words(text: str, pattern: re.Pattern[str] = _WORD) -> list[str]:
    # `\w` does not match an accent that is a separate character.
    words = pattern.findall(normalize("NFC", text.lower()).replace("\u2019", "'"))
    return [_NUMBERS.get(word, word) for word in words]


def _num_negations(words: list[str]) -> int:
    return sum(bool(_NEGATION.fullmatch(word)) for word in words)
