"""Find answers as spans of a passage's tokens.

A span is the pair of its first and its last token, counted from 0. A token's offsets are the
positions of its first character and of the one after its last.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, Optional

Span = tuple[int, int]

Offsets = Sequence[tuple[int, int]]


class AnswerSpan(NamedTuple):
    """A span, and its agreement with the most similar answer."""

    start: int
    end: int
    overlap: float
    """ROUGE-L F1, from 0 to 1."""


def covering_span(offsets: Offsets, start: int, end: int) -> Optional[Span]:
    """Return the shortest span that has the characters from `start` to before `end`; `None` if no
    token has one of them. The tokens' `offsets` are in order and without overlap.
    """
    first = bisect_right([token_end for _, token_end in offsets], start)
    last = bisect_left([token_start for token_start, _ in offsets], end) - 1
    return (first, last) if first <= last else None


def verbatim_span(text: str, offsets: Offsets, answer: str) -> Optional[Span]:
    """Return the span of the first occurrence of the answer in the text; `None` if there is none.

    Whitespace between words may differ. An occurrence neither begins nor ends within a word. Those
    that begin and end with a token are preferred; if there are none, the span of the first
    occurrence is the shortest that covers it ("son" in a token "son--he").
    """
    if not answer.strip():
        return None
    words = r"\s+".join(map(re.escape, answer.split()))
    starts = {start: token for token, (start, _) in enumerate(offsets)}
    ends = {end: token for token, (_, end) in enumerate(offsets)}
    first_covering = None
    for match in re.finditer(rf"(?<!\w){words}(?!\w)", text):
        if match.start() in starts and match.end() in ends:
            return starts[match.start()], ends[match.end()]
        # A cut passage may end before the occurrence does.
        if first_covering is None and offsets[-1][1] >= match.end():
            first_covering = covering_span(offsets, *match.span())
    return first_covering


def best_overlap_span(passage: Sequence[str], answers: Sequence[Sequence[str]]) -> AnswerSpan:
    """Return the span with the highest ROUGE-L F1 against one of the answers.

    With c the length of the longest common subsequence of a span of n words and an answer of m,
    ROUGE-L F1 is 2 c / (n + m) ([Lin 2004](https://aclanthology.org/W04-1013)). Words are
    lower-cased tokens; those without a letter or digit do not count. In ties, the span with the
    fewest tokens is taken, and then the first one. If the passage has none of the answers' words,
    its first token is taken.

    The best span begins and ends with a word of the answer. From each such word the span grows,
    and with it a row of the longest common subsequence, held in the bits of an integer (Hyyrö
    2004, "Bit-parallel LCS-length computation revisited"), until it is too long to be better than
    the best so far: its F1 is at most 2 m / (n + m).

    The `passage` has at least one token, and each of the `answers` is a list of them.
    """
    words = [_word(token) for token in passage]
    best = _Overlap(common=0, total=1, length=1, start=0)
    for answer in answers:
        answer_words = [word for word in map(_word, answer) if word]
        best = _best_overlap(words, answer_words, best)
    overlap = 2 * best.common / best.total
    return AnswerSpan(best.start, best.start + best.length - 1, overlap)


class _Overlap(NamedTuple):
    """A span's overlap with an answer."""

    common: int  # c, the length of the longest common subsequence
    total: int  # n + m, the words of the span and of the answer
    length: int  # in tokens
    start: int

    def is_better_than(self, other: "_Overlap") -> bool:
        """Return whether this F1 is higher or, of equal ones, the span shorter or earlier."""
        # Fractions are compared as integers, so that ties are exact.
        gain = self.common * other.total - other.common * self.total
        if gain != 0:
            return gain > 0
        return (self.length, self.start) < (other.length, other.start)


def _best_overlap(words: Sequence[str], answer_words: Sequence[str], best: _Overlap) -> _Overlap:
    """Return the best overlap of a span of `words` with an answer, or `best` if it is as good."""
    num_before = [0, *accumulate(bool(word) for word in words)]
    num_answer_words = len(answer_words)
    positions: dict[str, int] = {}
    for position, word in enumerate(answer_words):
        positions[word] = positions.get(word, 0) | 1 << position
    matched = [index for index, word in enumerate(words) if word in positions]
    no_match = (1 << num_answer_words) - 1
    for number, start in enumerate(matched):
        row = no_match  # a zero for each word of the answer in the common subsequence
        for end in matched[number:]:
            total = num_before[end + 1] - num_before[start] + num_answer_words
            if num_answer_words * best.total < best.common * total:
                break
            matches = row & positions[words[end]]
            row = ((row + matches) | (row - matches)) & no_match
            common = num_answer_words - bin(row).count("1")
            found = _Overlap(common, total, end - start + 1, start)
            if found.is_better_than(best):
                best = found
    return best


def _word(token: str) -> str:
    """Return the word of a token: an empty string if it has no letter or digit."""
    return token.lower() if any(map(str.isalnum, token)) else ""
