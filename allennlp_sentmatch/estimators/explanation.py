"""The words of a pair that decide a prediction."""

from collections.abc import Sequence

from allennlp_sentmatch.estimators.linear import Array
from allennlp_sentmatch.files.texts import is_blank

WordWeights = list[tuple[str, float]]


def without_each_word(sides: Sequence[list[str]]) -> list[list[str]]:
    """Return a pair of sentences, given their words, and the same without each of its words.

    A word without which nothing is left stays.
    """
    whole = [" ".join(words) for words in sides]
    variants = [whole]
    for side, words in enumerate(sides):
        for i in range(len(words)):
            shorter = list(whole)
            rest = " ".join(words[:i] + words[i + 1 :])
            if not is_blank(rest):
                shorter[side] = rest
            variants.append(shorter)
    return variants


def word_weights(sides: Sequence[list[str]], explained: Array) -> tuple[WordWeights, WordWeights]:
    """Return each word of two sentences with how much a figure falls without it.

    `explained` has the figure of each of `without_each_word`.
    """
    falls = (explained[0] - explained[1:]).tolist()
    first, second = sides
    return list(zip(first, falls)), list(zip(second, falls[len(first) :]))
