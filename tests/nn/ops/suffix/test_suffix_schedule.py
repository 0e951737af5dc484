"""Which suffixes read which tokens together."""

import pytest

from allennlp_sentmatch.nn.ops.suffix.schedule import Schedule


@pytest.mark.parametrize("window", [1, 3, 6])
def test_a_token_is_read_once_by_each_suffix_that_began_before_it(window):
    lengths = [6, 6, 4, 1]
    sizes = [sum(length > t for length in lengths) for t in range(6)]
    read = [
        (step.t, suffix, sentence)
        for chunk in Schedule.of(len(lengths), sizes, window, num_starts=6).chunks
        for step in chunk
        for suffix in range(step.first, step.first + step.suffixes)
        for sentence in range(step.sentences)
    ]
    expected = [
        (t, suffix, sentence)
        for sentence, length in enumerate(lengths)
        for t in range(length)
        for suffix in range(t)
        if t - suffix < window
    ]
    assert sorted(read) == sorted(expected)
    if window == 6:
        assert len(read) == sum(length * (length - 1) // 2 for length in lengths)


def test_the_rows_of_a_chunk_follow_one_another():
    for chunk in Schedule.of(3, [3, 3, 2, 2, 2, 1], window=4, num_starts=6).chunks:
        end = 0
        for step in chunk:
            assert step.offset == end
            end += step.suffixes * step.sentences
