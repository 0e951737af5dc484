"""Texts of opposite meanings, although most of their words are the same, for English.

A word of a text has its opposite in the other one, from the list in `opposites` or by its form
("tested", "untested"), or two phrases have exchanged their places ("from Paris to London", "from
London to Paris").
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, product

import numpy

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.corpora.opposites import POLES, OppositeWords

_FUNCTION_WORDS = """
a about after all also an and any are as at be because been before being both but by can could did
do does during each for from had has have he her here him his how i if in into is it its just may me
might more most must my of off on onto or other our out over own shall she should so some such than
that the their them then there these they this those through to too under until up us very was we
were what when where which while who whom whose why will with would you your
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
_PHRASE_LENGTHS = (1, 2, 3)
_JOINING = {"and", "nor", "or", "plus", "versus", "vs"}  # between phrases in any order
_LINKS = {"a", "an", "are", "is", "the", "was", "were", "with"}  # likewise, if no other word is
# Beside these words, the order of two phrases does not matter.
_RELATIONS = """
between both compare compared comparison differ differs difference differences different distance
equal equals far relation relationship same similar similarities similarity
"""
_SYMMETRIC = frozenset(_RELATIONS.split())
_OPPOSITE_FORMS = (
    (re.compile(r"^under(?=\w{4})"), "over"),  # "overpriced"
    # "unable" and "impossible" are negations.
    (re.compile(r"^(?:un(?!able$)|im(?!possible$)|in|il|ir|dis|non|de|anti|counter)(?=\w{4})"), ""),
    (re.compile(r"(?<=\w{3})less$"), "ful"),  # "harmful"
    (re.compile(r"(?<=\w{3})ee$"), "er"),  # "employer"
)


class TurnedTexts:
    """Tells which of N texts exclude each other by their words.

    # Parameters

    words : `Sequence[tuple[str, ...]]`
        The words of each text, in lower case.
    poles : `Sequence[tuple[int, ...]]`
        The poles of each text, by `poles_of`.
    """

    def __init__(self, words: Sequence[tuple[str, ...]], poles: Sequence[tuple[int, ...]]) -> None:
        self._opposites = OppositeWords(poles)
        self._words = words
        self._orders = numpy.array([hash(one) for one in words], numpy.int64)
        # Texts of the same words, in any order, share a number.
        self._bags = numpy.array([hash(tuple(sorted(one))) for one in words], numpy.int64)
        forms = [_forms_of(one) for one in words]
        found = frozenset().union(*forms).intersection(chain.from_iterable(words))
        self._has_form = numpy.array([not found.isdisjoint(one) for one in forms], bool)
        self._has_opposite = numpy.array([not found.isdisjoint(one) for one in words], bool)

    def exclude(self, first: Array, second: Array) -> Array:
        """Return whether the texts of P pairs exclude each other, (P,), given their numbers
        (P,).
        """
        excluded = self._opposites.exclude(first, second)
        may_differ_in_form = self._has_form[first] & self._has_opposite[second]
        may_differ_in_form |= self._has_opposite[first] & self._has_form[second]
        may_be_exchanged = self._bags[first] == self._bags[second]
        may_be_exchanged &= self._orders[first] != self._orders[second]
        are_read = may_differ_in_form | may_be_exchanged
        for place in numpy.flatnonzero(are_read & ~excluded):
            words = self._words[first[place]]
            others = self._words[second[place]]
            excluded[place] = _differ_in_form(words, others) or _are_exchanged(words, others)
        return excluded


@lru_cache(maxsize=2**16)
def _forms_of_word(word: str) -> frozenset[str]:
    """Return the words whose opposite this one may be by its form."""
    forms = [pattern.sub(replacement, word) for pattern, replacement in _OPPOSITE_FORMS]
    return frozenset(forms) - {word}


def _forms_of(words: Iterable[str]) -> frozenset[str]:
    """Return the words whose opposite one of some words may be by its form."""
    return frozenset().union(*map(_forms_of_word, words))


def _differ_in_form(words: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether a word has been replaced by its opposite, by its form."""
    added = (Counter(words) - Counter(others)).keys()
    removed = (Counter(others) - Counter(words)).keys()
    return bool(removed & _forms_of(added) or added & _forms_of(removed))


def _are_exchanged(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Return whether two texts of the same words differ by two phrases that have exchanged places.

    The phrases have up to three words, but no function words, and other words between them.
    """
    if not _SYMMETRIC.isdisjoint(words):
        return False
    start = _num_equal(words, others)
    num_equal_at_end = _num_equal(words[:start:-1], others[:start:-1])
    end = len(words) - num_equal_at_end
    words = words[start:end]
    others = others[start:end]
    for num_first, num_last in product(_PHRASE_LENGTHS, repeat=2):
        end = len(words) - num_last
        first = words[:num_first]
        between = words[num_first:end]
        last = words[end:]
        if last + between + first == others and _gives_order(between):
            return not any(map(_is_only_function_word, first + last))
    return False


def _num_equal(words: Sequence[str], others: Sequence[str]) -> int:
    """Return how many words at the beginning of two texts are equal."""
    for position, (word, other) in enumerate(zip(words, others)):
        if word != other:
            return position
    return min(len(words), len(others))


def _gives_order(between: Sequence[str]) -> bool:
    """Return whether the order of phrases with these words between them matters.

    It does not in "tea or coffee".
    """
    return _JOINING.isdisjoint(between) and not _LINKS.issuperset(between)


def _is_only_function_word(word: str) -> bool:
    """Return whether a word is a function word without an opposite, unlike "up"."""
    return word in FUNCTION_WORDS and word not in POLES
