"""The search for spans, and windows, against spans and scores of lists."""

import math
from collections import defaultdict
from typing import NamedTuple, Optional

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from allennlp_sentmatch.nn.answer_spans import PassageWindows, best_spans

SCORES = st.one_of(
    st.just(-math.inf),
    st.floats(-5, 0, width=32),
    st.integers(-3, 0).map(float),  # ties
)


class Case(NamedTuple):
    """Scores of the starts and ends of spans (2, T), and the arguments of a search."""

    start: torch.Tensor
    end: torch.Tensor
    count: int
    max_length: Optional[int]


@st.composite
def passages(draw):
    T = draw(st.integers(0, 6))
    row = st.lists(SCORES, min_size=T, max_size=T)
    rows = st.lists(row, min_size=2, max_size=2)
    return Case(
        start=torch.tensor(draw(rows), dtype=torch.float64),
        end=torch.tensor(draw(rows), dtype=torch.float64),
        count=draw(st.integers(1, 8)),
        max_length=draw(st.none() | st.integers(1, 7)),
    )


def check(found, row, scores, count):
    """The best distinct spans of a passage, by score; ties may be in any order."""
    expected = sorted(scores.values(), reverse=True)[:count]
    num_missing = count - len(expected)
    assert found.scores[row].tolist() == expected + [-math.inf] * num_missing
    spans = [tuple(span) for span in found.spans[row].tolist()]
    assert spans[len(expected) :] == [(-1, -1)] * num_missing
    found_spans = spans[: len(expected)]
    assert [scores[span] for span in found_spans] == expected
    assert len(set(found_spans)) == len(expected)


def test_scores_that_are_no_numbers_have_no_spans():
    found = best_spans(torch.tensor([[math.nan, math.nan]]), torch.zeros(1, 2), count=2)
    assert found.spans.tolist() == [[[-1, -1], [-1, -1]]]


@settings(deadline=None)
@given(passages())
def test_all_spans_are_searched(case):
    start, end, count, max_length = case
    T = start.size(1)
    found = best_spans(start, end, count, max_length)
    assert found.spans.shape == (2, count, 2)
    for row in range(2):
        scores = {}
        for i in range(T):
            for j in range(i, min(T, i + (max_length or T))):
                score = (start[row, i] + end[row, j]).item()
                if score > -math.inf:
                    scores[i, j] = score
        check(found, row, scores, count)


def test_no_passages():
    found = best_spans(torch.zeros(0, 4), torch.zeros(0, 4), count=2)
    assert found.spans.shape == (0, 2, 2)
    assert found.scores.shape == (0, 2)


@pytest.mark.parametrize("setting", ["count", "max_length"])
def test_impossible_settings(setting: str):
    wrong = {setting: 0}
    with pytest.raises(ValueError, match=f"{setting} must be an integer of at least 1.*; got 0"):
        best_spans(torch.zeros(1, 4), torch.zeros(1, 4), **wrong)


def of(lengths: list[int], size: int, stride: int) -> PassageWindows:
    mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
    return PassageWindows.of(mask, size, stride)


def tokens(windows: PassageWindows) -> list[tuple[int, list[int]]]:
    """Return the passage and the positions of each window."""
    found = []
    for passage, positions, is_present in zip(*windows):
        found.append((int(passage), positions[is_present].tolist()))
    return found


NUMBERED = torch.arange(16).view(2, 8, 1)
"""Two passages of eight tokens, which are numbers."""


def test_cutting():
    windows = of([8, 3], size=4, stride=3)
    cut = windows.cut(NUMBERED)
    assert cut.shape == (4, 4, 1)
    assert cut[windows.mask].flatten().tolist() == [0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 10]


def test_splitting_and_selecting():
    windows = of([8, 3], size=4, stride=3)
    cut = windows.cut(NUMBERED)
    first, second = windows.split(3)
    assert len(first.passages) == 3
    assert len(second.passages) == 1
    torch.testing.assert_close(torch.cat([first.cut(NUMBERED), second.cut(NUMBERED)]), cut)
    selected = windows.select(torch.tensor([3, 1]))
    torch.testing.assert_close(selected.cut(NUMBERED), cut[[3, 1]])


def test_windows_overlap_and_the_last_one_ends_with_the_passage():
    assert tokens(of([8, 4, 0, 5], size=4, stride=3)) == [
        (0, [0, 1, 2, 3]),
        (0, [3, 4, 5, 6]),
        (0, [6, 7]),
        (1, [0, 1, 2, 3]),
        (2, []),
        (3, [0, 1, 2, 3]),
        (3, [3, 4]),
    ]
    assert tokens(of([6], size=3, stride=3)) == [(0, [0, 1, 2]), (0, [3, 4, 5])]


@st.composite
def windowed(draw):
    """Return lengths of passages, their windows, and a search with few distinct scores."""
    lengths = draw(st.lists(st.integers(0, 9), min_size=1, max_size=3).filter(any))
    size = draw(st.integers(1, 5))
    windows = of(lengths, size, draw(st.integers(1, size)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    start, end = torch.randint(-4, 4, (2, *windows.mask.shape), generator=generator).double()
    count = draw(st.integers(1, 6))
    max_length = draw(st.none() | st.integers(1, 6))
    return lengths, windows, Case(start, end, count, max_length)


@settings(deadline=None)
@given(windowed())
def test_the_scores_of_all_windows_are_joined(case):
    """A token has its highest score in a window."""
    lengths, windows, (start, *_) = case
    T = max(lengths)
    lowest = torch.finfo(start.dtype).min
    expected = torch.full((len(lengths), T), lowest, dtype=start.dtype)
    for scores, (passage, positions) in zip(start, tokens(windows)):
        for i, position in enumerate(positions):
            expected[passage, position] = max(expected[passage, position], scores[i])
    torch.testing.assert_close(windows.join(start, T), expected)


@settings(deadline=None)
@given(windowed())
def test_the_spans_of_all_windows_are_searched(case):
    """A span has its highest score, and the best span is found with a window that has it."""
    lengths, windows, (start, end, count, max_length) = case
    scores = [{} for _ in lengths]
    owners = [defaultdict(set) for _ in lengths]
    for window, (passage, positions) in enumerate(tokens(windows)):
        for i, first in enumerate(positions):
            longest = max_length or len(positions)
            for j, last in list(enumerate(positions))[i : i + longest]:
                span = (first, last)
                score = (start[window, i] + end[window, j]).item()
                scores[passage][span] = max(score, scores[passage].get(span, -math.inf))
                owners[passage][span, score].add(window)
    best, best_windows = windows.best_spans(start, end, count, max_length)
    for passage, expected in enumerate(scores):
        check(best, passage, expected, count)
        if expected:
            span = tuple(best.spans[passage, 0].tolist())
            highest = max(expected.values())
            assert int(best_windows[passage]) in owners[passage][span, highest]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_scores_keep_their_type(dtype):
    windows = of([5], size=3, stride=2)
    scores = torch.zeros(2, 3, dtype=dtype)
    assert windows.join(scores, 5).dtype == dtype
    best, _ = windows.best_spans(scores, scores)
    assert best.scores.dtype == dtype
