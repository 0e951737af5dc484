"""The words of a pair that decide a prediction.

A word counts for as much as a figure, the probability of a label or a score, falls without it.
"""

from collections.abc import Sequence

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.files.texts import is_blank

WordWeights = list[tuple[str, float]]


def without_each_word(sides: Sequence[list[str]]) -> list[list[str]]:
    """Return a pair of sentences, given their words, and the pair without each of its words.

    The first of the 1 + W pairs is the whole one; the words of the first sentence are removed
    first. A sentence's only word is not removed.
    """
    whole = [" ".join(words) for words in sides]
    variants = [whole]
    for side, words in enumerate(sides):
        for position in range(len(words)):
            others = list(words)
            del others[position]
            rest = " ".join(others)
            shorter = list(whole)
            if not is_blank(rest):
                shorter[side] = rest
            variants.append(shorter)
    return variants


def word_weights(sides: Sequence[list[str]], explained: Array) -> tuple[WordWeights, WordWeights]:
    """Return each word of two sentences with the decrease of a figure without it.

    `explained` (1 + W,) has the figures of the pairs from `without_each_word`.
    """
    falls = (explained[0] - explained[1:]).tolist()
    first, second = sides
    falls_of_second = falls[len(first) :]
    return list(zip(first, falls)), list(zip(second, falls_of_second))
