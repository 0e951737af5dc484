"""The memory of training; test_every_recurrence.py has what its steps compute."""

import torch

from allennlp_sentmatch.nn.ops.subilstm.schedule import Schedule, num_rows, of_chunk


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
