"""The search for spans, and windows, against spans and scores of lists."""

import math

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


@st.composite
def passages(draw):
    T = draw(st.integers(0, 6))
    rows = st.lists(st.lists(SCORES, min_size=T, max_size=T), min_size=2, max_size=2)
    start, end = (torch.tensor(draw(rows), dtype=torch.float64) for _ in range(2))
    return start, end, draw(st.integers(1, 8)), draw(st.none() | st.integers(1, 7))


def check(found, row, scores, count):
    """The best distinct spans of a passage, by score; ties may be in any order."""
    expected = sorted(scores.values(), reverse=True)[:count]
    missing = count - len(expected)
    assert found.scores[row].tolist() == [*expected, *[-math.inf] * missing]
    spans = [tuple(span) for span in found.spans[row].tolist()]
    assert spans[len(expected) :] == [(-1, -1)] * missing
    assert [scores[span] for span in spans[: len(expected)]] == expected
    assert len(set(spans[: len(expected)])) == len(expected)


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
        scores = {
            (i, j): (start[row, i] + end[row, j]).item()
            for i in range(T)
            for j in range(i, T)
            if j - i < (max_length or T)
        }
        check(found, row, {span: x for span, x in scores.items() if x > -math.inf}, count)


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
    return [
        (passage, [position for position, present in zip(*parts) if present])
        for passage, *parts in zip(*(part.tolist() for part in windows))
    ]


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


def test_splitting_and_cutting():
    windows = of([8, 3], size=4, stride=3)
    passages = torch.arange(16).view(2, 8, 1)
    cut = windows.cut(passages)
    assert cut.shape == (4, 4, 1)
    assert cut[windows.mask].flatten().tolist() == [0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 10]
    parts = list(windows.split(3))
    assert [len(part.passages) for part in parts] == [3, 1]
    torch.testing.assert_close(torch.cat([part.cut(passages) for part in parts]), cut)
    torch.testing.assert_close(windows.select(torch.tensor([3, 1])).cut(passages), cut[[3, 1]])


@st.composite
def windowed(draw):
    lengths = draw(st.lists(st.integers(0, 9), min_size=1, max_size=3).filter(any))
    size = draw(st.integers(1, 5))
    windows = of(lengths, size, draw(st.integers(1, size)))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    # Few distinct numbers, so that there are ties.
    start, end = torch.randint(-4, 4, (2, *windows.mask.shape), generator=generator).double()
    count = draw(st.integers(1, 6))
    max_length = draw(st.none() | st.integers(1, 6))
    return lengths, windows, start, end, count, max_length


@settings(deadline=None)
@given(windowed())
def test_the_spans_and_scores_of_all_windows_are_searched(case):
    lengths, windows, start, end, count, max_length = case
    T = max(lengths)
    joined = torch.full((len(lengths), T), torch.finfo(start.dtype).min, dtype=start.dtype)
    scores: list[dict[tuple[int, int], float]] = [{} for _ in lengths]
    owners: list[dict[tuple[tuple[int, int], float], list[int]]] = [{} for _ in lengths]
    for window, (passage, positions) in enumerate(tokens(windows)):
        for i, first in enumerate(positions):
            joined[passage, first] = max(joined[passage, first], start[window, i])
            for j, last in list(enumerate(positions))[i : i + (max_length or T)]:
                span = (first, last)
                score = (start[window, i] + end[window, j]).item()
                scores[passage][span] = max(score, scores[passage].get(span, -math.inf))
                owners[passage].setdefault((span, score), []).append(window)
    torch.testing.assert_close(windows.join(start, T), joined)
    best, best_windows = windows.best_spans(start, end, count, max_length)
    for passage, expected in enumerate(scores):
        check(best, passage, expected, count)
        if expected:
            span = tuple(best.spans[passage, 0].tolist())
            assert best_windows[passage] in owners[passage][span, max(expected.values())]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_scores_keep_their_type(dtype):
    windows = of([5], size=3, stride=2)
    scores = torch.zeros(2, 3, dtype=dtype)
    assert windows.join(scores, 5).dtype == windows.best_spans(scores, scores)[0].scores.dtype
    assert windows.join(scores, 5).dtype == dtype
