"""Which suffixes read which tokens together."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.subilstm.schedule import Schedule, Step, num_rows, of_chunk


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


@pytest.mark.parametrize("max_rows", [1, 5, 6, 100, None])
def test_a_split_step_has_the_same_rows(max_rows):
    step = Step(t=7, first=2, suffixes=5, sentences=3, offset=9)
    states, table = torch.arange(2 * 8 * 4).view(2, 8, 4, 1), torch.arange(2 * 30).view(2, 30, 1)
    parts = list(step.split(max_rows))
    for rows in (lambda x: x.of_states(states), lambda x: x.of_table(table)):
        torch.testing.assert_close(torch.cat([rows(part) for part in parts], 1), rows(step))
    if max_rows is not None:
        assert all(part.num_rows <= max(max_rows, step.sentences) for part in parts)
    assert not list(step._replace(suffixes=0).split(max_rows))


@pytest.mark.parametrize("window", [30, 200])
def test_chunks_for_recomputation_have_the_same_steps(window):
    saved = Schedule.of(40, [40] * 100 + [10] * 100, window, num_starts=200)
    recomputed = saved.for_recomputation()
    without_offset = [[x._replace(offset=0) for x in y.steps] for y in (saved, recomputed)]
    assert without_offset[0] == without_offset[1]
    assert 1 < len(recomputed.chunks) < len(saved.chunks)


def test_memory_grows_less_than_the_arithmetic():
    """It is 11 numbers a row of the largest chunk, and two for each state before a chunk."""
    memory = []
    for T in (128, 512):
        schedule = Schedule.of(32, [32] * T, T, T).for_recomputation()
        states = torch.zeros(T, 32, 1)
        kept = sum(of_chunk(chunk, states).numel() for chunk in schedule.chunks)
        memory.append(4 * kept + 11 * max(map(num_rows, schedule.chunks)))
    assert memory[1] < 4**1.6 * memory[0]  # T sqrt(T); the arithmetic is 16 times as much
    assert memory[0] < 0.3 * 11 * 32 * 128**2 / 2


def test_a_chunk_advances_the_states_of_its_steps_only():
    states = torch.arange(6 * 3).view(6, 3, 1)
    for chunk in Schedule.of(3, [3, 3, 2, 2, 2, 1], window=3, num_starts=6).chunks:
        ends = [step.offset + step.num_rows for step in chunk]
        assert [step.offset for step in chunk] == [0, *ends[:-1]]  # their rows follow each other
        slices = of_chunk(chunk, states).flatten().tolist()
        used = [x for step in chunk for x in step.of_states(states).flatten().tolist()]
        assert set(used) <= set(slices)
