"""The span of an answer has the tokens that it covers."""

import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allennlp_sentmatch.data.dataset_readers.answer_spans import (
    best_overlap_span,
    covering_span,
    verbatim_span,
)

TEXT = 'The fox -- "red", old\n  fox -- ran.'
OFFSETS = [match.span() for match in re.finditer(r"\w+|[^\w\s]+", TEXT)]
WORDS = [TEXT[start:end] for start, end in OFFSETS]


def test_covering_span_has_exactly_the_tokens_that_share_a_character():
    for start in range(len(TEXT) + 1):
        for end in range(start + 1, len(TEXT) + 3):
            shared = [i for i, (first, last) in enumerate(OFFSETS) if first < end and start < last]
            expected = (shared[0], shared[-1]) if shared else None
            assert covering_span(OFFSETS, start, end) == expected


FOX = WORDS.index("fox")


OLD = WORDS.index("old")


LAST = len(WORDS) - 1


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("fox", (FOX, FOX)),  # the first one
        ("old fox", (OLD, OLD + 1)),
        (" old\tfox\n", (OLD, OLD + 1)),
        ("ran.", (LAST - 1, LAST)),
        ("The fox --", (0, 2)),
        ("the fox", None),
        ("ol", None),
        ("fox ran", None),
        ("f.x", None),
        (" ", None),
    ],
)
def test_verbatim_span(answer, expected):
    assert verbatim_span(TEXT, OFFSETS, answer) == expected


def test_an_occurrence_within_a_word_or_a_token():
    assert verbatim_span("ananas an", [(0, 6), (7, 9)], "an") == (1, 1)
    text = "my son--he son--a son or son"
    offsets = [
        (0, 2),
        (3, 10),
        (11, 17),
        (18, 21),
        (22, 24),
        (25, 28),
    ]
    assert verbatim_span(text, offsets, "son") == (3, 3)  # the first that is a token
    assert verbatim_span(text, offsets[:2], "son") == (1, 1)
    assert verbatim_span(text, offsets, "my son") == (0, 1)
    assert verbatim_span(text, offsets[:3], "son--a son") is None  # the passage is cut
    assert verbatim_span(" ", [(0, 0)], "fox") is None


def without_full_stops(words):
    return [word.lower() for word in words if word != "."]


def overlap(span, answer):
    """Return ROUGE-L F1 of two lists of tokens, by the table in Lin (2004)."""
    span = without_full_stops(span)
    answer = without_full_stops(answer)
    if not (span and answer):
        return Fraction(0)
    table = [[0] * (len(answer) + 1) for _ in range(len(span) + 1)]
    for i, first in enumerate(span):
        for j, second in enumerate(answer):
            if first == second:
                table[i + 1][j + 1] = table[i][j] + 1
            else:
                table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j])
    return Fraction(2 * table[-1][-1], len(span) + len(answer))


words = st.sampled_from(["a", "b", "B", "c", "d", "."])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(words, min_size=1, max_size=12),
    st.lists(st.lists(words, max_size=7), min_size=1, max_size=3),
)
def test_the_best_span_is_the_one_of_trying_all(passage, answers):
    """The shortest, then the first of equally good ones."""
    ranks = []
    for start in range(len(passage)):
        for end in range(start, len(passage)):
            span = passage[start : end + 1]
            score = max(overlap(span, answer) for answer in answers)
            ranks.append((-score, end - start, start))
    negative_score, length, start = min(ranks)
    found = best_overlap_span(passage, answers)
    assert found.start == start
    assert found.end == start + length
    assert found.overlap == pytest.approx(float(-negative_score), abs=1e-12)
