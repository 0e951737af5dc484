"""Features from the words of two sentences: shared words, negation and numbers.

A single word ("not", "three") hardly changes a sentence's vector, and a hundred labels are too few
to find the change in hundreds of features. These features are few, and for English.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import log1p
from sys import intern
from typing import Any, NamedTuple, Optional

import numpy
from torch import Tensor

from allennlp_sentmatch.array_types import FloatArray
from allennlp_sentmatch.corpora.numerals import FIRST, with_numbers
from allennlp_sentmatch.corpora.opposites import poles_of
from allennlp_sentmatch.corpora.plain_words import words_of
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.corpora.turned_texts import FUNCTION_WORDS, TurnedTexts

WORD_ORDERS = ("ordered", "unordered", None)
"""The uses of the features of words: by the order of the sentences, regardless of it, or none."""

NUM_COMPARED = 12  # the number of features of `compare_words`

_NEGATING_WORDS = """
barely dunno except fail failed failing fails hardly impossible lack lacked lacking lacks neither
never no nobody non none nor not nothing nowhere rarely refuse refused refuses refusing scarcely
seldom unable without
"""
_NEGATIONS = frozenset(_NEGATING_WORDS.split())
_FIRST = numpy.array([0])
_SECOND = numpy.array([1])
_SIGNS = "+#-"
_LETTERS = set("bcdefghjklmnopqrvwxyz")  # without marks that are words or parts of words
_BEFORE_LETTER = """
annex apartment appendix area article block box building case category chapter class clause column
corridor drug entrance exhibit exit figure flat form gate grade group hall hangar hepatitis house
influenza item level line lot mark method model module option page paragraph part phase plan
platform point product question ring room route row sample school section sector series size stage
step strain table team terminal test tower track type unit variant version vitamin ward wing zone
"""
_NAMED_BY_LETTER = frozenset(_BEFORE_LETTER.split())


class DecisiveWords(NamedTuple):
    """The words of a text, and those that change its meaning, which its vector hardly shows."""

    words: tuple[str, ...]
    """All words, in lower case and with numbers in digits; a number and its unit are two of them,
    and marks are left out.
    """
    negations: int
    """The number of negations in the text."""
    numbers: tuple[str, ...]
    """The numbers in digits, with their units and the operators between them, in order."""
    signs: tuple[str, ...]
    """The words that end with a sign, such as "c#", and letters that are names, as in "vitamin
    c".
    """
    poles: tuple[int, ...]
    """The words that have an opposite; see `poles_of`."""

    @property
    def must_be_equal(self) -> tuple[Any, ...]:
        """The words that texts must share to be duplicates."""
        return self.negations, self.numbers, self.signs


@lru_cache(maxsize=2)  # a question is kept while it is compared with each of its answers
def decisive_words(text: str) -> DecisiveWords:
    """Return the words of a text, and those that decide what it means."""
    plain = words_of(text)
    read = with_numbers(plain)
    words = [word.text for word in read]
    # A number and its unit are two words, since another sentence may have only one of them.
    parts = [part for word in words for part in word.split(" ")]
    return DecisiveWords(
        words=tuple(intern(part) for part in parts if len(part) > 1 or part.isalnum()),
        negations=sum(word in _NEGATIONS for word in words),
        # Adding "first" hardly changes the meaning, and a word that replaces it is a number.
        numbers=tuple(word.text for word in read if word.is_number and word.text != FIRST),
        signs=tuple(_with_signs(words)),
        poles=poles_of(plain),
    )


def _with_signs(words: list[str]) -> Iterator[str]:
    """Yield the words that end with a sign, and the letters that are names."""
    for before, word in zip(["", *words], words):
        ends_with_sign = word[-1] in _SIGNS and word[0].isalpha()
        is_named = before in _NAMED_BY_LETTER or before.isdecimal()  # "section 4(b)"
        if ends_with_sign or (is_named and word in _LETTERS):
            yield word


def compare_words(first: str, second: str, ordered: bool = True) -> list[float]:
    """Return twelve features of a pair, given its words in lower case with numbers in digits.

    The shares of each sentence's words and of its pairs of neighbors that the other one has (4),
    the negations in each, and the negations and opposites in which they differ, each at most 2
    (3), whether the numbers or the signs differ (1), the logarithms of the lengths (2), and the
    shares of each sentence's content words that the other one has (2). Two features that belong to
    one sentence each are in the order of the sentences or, unless `ordered`, sorted by size.
    """
    decisive = decisive_words(first)
    other_decisive = decisive_words(second)
    words = decisive.words
    others = other_decisive.words
    num_turned = _num_turned(decisive, other_decisive)
    features: list[float] = []
    features += _shared(set(words), set(others))
    features += _shared(_neighbors(words), _neighbors(others))
    features.append(min(decisive.negations, 2))
    features.append(min(other_decisive.negations, 2))
    features.append(min(num_turned, 2))
    features.append(_differ_in_a_name(decisive, other_decisive))
    features.append(log1p(len(words)))
    features.append(log1p(len(others)))
    features += _shared(set(words) - FUNCTION_WORDS, set(others) - FUNCTION_WORDS)
    if not ordered:
        for start in (0, 2, 4, 8, 10):
            sides = slice(start, start + 2)
            features[sides] = sorted(features[sides])
    return features


def _neighbors(words: Sequence[str]) -> set[tuple[str, str]]:
    """Return the pairs of neighbors among words."""
    return set(zip(words, words[1:]))


def _num_turned(first: DecisiveWords, second: DecisiveWords) -> int:
    """Count the differences that give one text the opposite meaning of the other.

    These are the negations that only one of them has, and a word replaced by its opposite, or two
    words that have exchanged their places.
    """
    num_negations = abs(first.negations - second.negations)
    texts = TurnedTexts([first.words, second.words], [first.poles, second.poles])
    is_opposite = texts.exclude(_FIRST, _SECOND)[0]
    return num_negations + int(is_opposite)


def _differ_in_a_name(first: DecisiveWords, second: DecisiveWords) -> bool:
    """Return whether the numbers or the signs of two texts differ."""
    return set(first.numbers) != set(second.numbers) or first.signs != second.signs


def word_features(
    first: Sequence[str],
    second: Sequence[str],
    order: Optional[str],
    encoder: SentenceEncoder,
) -> Optional[FloatArray]:
    """Return the features (N, K), float32, of the words of N pairs, in one of `WORD_ORDERS`.

    These are the results of `compare_words` and, if the encoder has vectors of words, how well the
    words of each sentence are covered by the other's. Return `None` for the order `None`.
    """
    if order is None:
        return None
    ordered = order == "ordered"
    compared = [compare_words(*pair, ordered) for pair in zip(first, second)]
    features = numpy.array(compared, numpy.float32).reshape(-1, NUM_COMPARED)
    compare = _coverage(encoder)
    if compare is None:
        return features
    covered = compare(first, second).numpy()  # (N, 4): two figures, each for both sentences
    if not ordered:
        by_side = covered.reshape(-1, 2, 2)
        covered = numpy.sort(by_side, axis=2).reshape(-1, 4)
    return numpy.hstack([features, covered])


def num_features(encoder: SentenceEncoder) -> int:
    """Return the number of features of words (K), which `compare_words` and, if the encoder has it,
    its coverage give.
    """
    return NUM_COMPARED if _coverage(encoder) is None else NUM_COMPARED + 4


def _coverage(encoder: SentenceEncoder) -> Optional[Callable[..., Tensor]]:
    """Return the method `word_coverage` of an encoder that has vectors of words, or `None`."""
    return getattr(encoder.network, "word_coverage", None)


def _shared(first: set[Any], second: set[Any]) -> list[float]:
    """Return the share of each side's elements that the other side has, too."""
    common = len(first & second)
    return [common / max(1, len(first)), common / max(1, len(second))]
