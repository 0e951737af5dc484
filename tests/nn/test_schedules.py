"""Schedules against the thesis's equation."""

import pytest
import torch

from allennlp_sentmatch.nn.schedules import LinearSchedule


def test_gumbel_softmax_temperature():
    # Eq. 6.26: max(0.1, 1.0 - r t) with r = 1e-4
    schedule = LinearSchedule(start=1.0, end=0.1, rate=1e-4)
    for step, expected in [(0, 1.0), (5000, 0.5), (9000, 0.1), (10_000, 0.1)]:
        schedule.step.fill_(step)
        assert schedule() == pytest.approx(expected, rel=1e-12)


def test_checkpoint_holds_the_step():
    schedule = LinearSchedule(start=0.0, end=1.0, rate=0.1)
    for _ in range(3):
        schedule.advance()
    other = LinearSchedule(start=0.0, end=1.0, rate=0.1)
    other.load_state_dict(schedule.state_dict())
    assert other() == pytest.approx(0.3)
    assert schedule() == pytest.approx(0.3)
    assert list(schedule.parameters()) == []
    assert isinstance(schedule.step, torch.Tensor)


@pytest.mark.parametrize("rate", [0, float("nan")])
def test_impossible_rates(rate):
    with pytest.raises(ValueError, match=f"^rate must be a number above 0; got {rate}"):
        LinearSchedule(0.0, 1.0, rate)
