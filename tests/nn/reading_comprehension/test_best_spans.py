"""The search for spans against a search of all of them."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from allennlp_sentmatch.nn.answer_spans import best_spans

SCORES = st.one_of(
    st.just(-math.inf),
    st.floats(-5, 0, width=32),
    st.integers(-3, 0).map(float),  # ties
)


@st.composite
def cases(draw):
    T = draw(st.integers(0, 6))
    rows = st.lists(st.lists(SCORES, min_size=T, max_size=T), min_size=2, max_size=2)
    start, end = (torch.tensor(draw(rows), dtype=torch.float64) for _ in range(2))
    return start, end, draw(st.integers(1, 8)), draw(st.none() | st.integers(1, 7))


@settings(deadline=None)
@given(cases())
def test_all_spans_are_searched(case):
    start, end, count, max_length = case
    T = start.size(1)
    found = best_spans(start, end, count, max_length)
    assert found.spans.shape == (2, count, 2)
    for row in range(2):
        scores = {
            (i, j): (start[row, i] + end[row, j]).item()
            for i in range(T)
            for j in range(i, T)
            if j - i < (max_length or T)
        }
        scores = {span: score for span, score in scores.items() if score > -math.inf}
        expected = sorted(scores.values(), reverse=True)[:count]
        missing = count - len(expected)
        assert found.scores[row].tolist() == [*expected, *[-math.inf] * missing]
        spans = [tuple(span) for span in found.spans[row].tolist()]
        assert spans[len(expected) :] == [(-1, -1)] * missing
        # Among spans of equal scores any may be chosen, each once.
        assert [scores[span] for span in spans[: len(expected)]] == expected
        assert len(set(spans[: len(expected)])) == len(expected)


def test_no_passages():
    found = best_spans(torch.zeros(0, 4), torch.zeros(0, 4), count=2)
    assert found.spans.shape == (0, 2, 2)
    assert found.scores.shape == (0, 2)


@pytest.mark.parametrize("setting", ["count", "max_length"])
def test_impossible_settings(setting: str):
    with pytest.raises(ValueError, match=f"{setting} must be at least 1, got 0"):
        best_spans(torch.zeros(1, 4), torch.zeros(1, 4), **{setting: 0})
