"""SQuAD's exact match and F1 of two answers.

They follow the evaluation script of SQuAD 1.1
([Rajpurkar et al. 2016](https://aclanthology.org/D16-1264), section 6): neither case nor
punctuation nor the articles a, an and the count.
"""

import re
import string
from collections import Counter

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def squad_words(answer: str) -> list[str]:
    """The words of an answer that count: lower-cased, without punctuation and articles."""
    return _ARTICLES.sub(" ", answer.lower().translate(_WITHOUT_PUNCTUATION)).split()


def squad_exact_match(prediction: str, reference: str) -> float:
    """1 if the words of two answers are the same, in the same order; otherwise 0."""
    return float(squad_words(prediction) == squad_words(reference))


def squad_f1(prediction: str, reference: str) -> float:
    """The harmonic mean of precision and recall of the predicted answer's words, from 0 to 1."""
    predicted, expected = Counter(squad_words(prediction)), Counter(squad_words(reference))
    shared = sum((predicted & expected).values())
    return 2 * shared / (sum(predicted.values()) + sum(expected.values())) if shared else 0.0
