import pytest
import torch

from allennlp_sentmatch.nn.cs_lvm import LinearSchedule


def test_gumbel_softmax_temperature():
    # Eq. 6.26: max(0.1, 1.0 - r t) with r = 1e-4
    schedule = LinearSchedule(start=1.0, end=0.1, rate=1e-4)
    values = {}
    for step in range(10_001):
        values[step] = schedule()
        schedule.advance()
    assert values[0] == pytest.approx(1.0, rel=1e-12)
    assert values[5000] == pytest.approx(0.5, rel=1e-12)
    assert values[9000] == pytest.approx(0.1, rel=1e-12)
    assert values[10_000] == pytest.approx(0.1, rel=1e-12)


def test_growing_value():
    schedule = LinearSchedule(start=0.0, end=1.0, rate=0.4)
    values = []
    for _ in range(4):
        values.append(schedule())
        schedule.advance()
    assert values == pytest.approx([0.0, 0.4, 0.8, 1.0])


def test_checkpoint_holds_the_step():
    schedule = LinearSchedule(start=0.0, end=1.0, rate=0.1)
    for _ in range(3):
        schedule.advance()
    other = LinearSchedule(start=0.0, end=1.0, rate=0.1)
    other.load_state_dict(schedule.state_dict())
    assert other() == schedule() == pytest.approx(0.3)
    assert list(schedule.parameters()) == []
    assert isinstance(schedule.step, torch.Tensor)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan")])
def test_bad_rate(rate):
    with pytest.raises(ValueError, match="rate is"):
        LinearSchedule(0.0, 1.0, rate)
