"""The memory of training; test_every_recurrence.py has what its steps compute."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.subilstm.schedule import Schedule, Step, num_rows, of_chunk


def test_memory_grows_less_than_the_arithmetic():
    """It has 11 numbers for each row of the largest chunk, and two for each state before a
    chunk.
    """
    memory = []
    for T in (128, 512):
        schedule = Schedule.of(32, [32] * T, T, T).for_recomputation()
        states = torch.zeros(T, 32, 1)
        kept = sum(of_chunk(chunk, states).numel() for chunk in schedule.chunks)
        memory.append(4 * kept + 11 * max(map(num_rows, schedule.chunks)))
    assert memory[1] < 4**1.6 * memory[0]  # T sqrt(T); the arithmetic is 16 times as much
    assert memory[0] < 0.3 * 11 * 32 * 128**2 / 2


@pytest.mark.parametrize("max_rows", [1, 3, 7, 9, 12, 100])
@pytest.mark.parametrize("suffixes", [0, 1, 5, 8])
def test_the_parts_of_a_step_have_each_suffix_once(suffixes, max_rows):
    rows = []
    for part in Step(t=9, first=2, suffixes=suffixes, sentences=3, offset=10).split(max_rows):
        assert part.t == 9
        assert part.sentences == 3
        assert part.num_rows <= max(3, max_rows)
        rows += [(part.first + i, part.offset + 3 * i) for i in range(part.suffixes)]
    assert rows == [(2 + i, 10 + 3 * i) for i in range(suffixes)]
