"""The estimated time of a kernel comes from its arithmetic, its memory and its launch."""

import pytest
import torch

from benchmarks import launches
from tests.simulated_device import NAME, WHY_MISSING

pytestmark = pytest.mark.skipif(bool(WHY_MISSING), reason=WHY_MISSING)


def test_the_work_of_a_product_and_of_an_expanded_tensor():
    with launches.MeasuringDevice() as device:
        x = torch.ones(5, 3).to(NAME)
        y = torch.ones(3, 7).to(NAME)
        device.work.clear()
        z = x @ y
        z.t()
        z.add(z[:1].expand(5, 7))
    product, addition = device.work
    assert product == (4 * (15 + 21 + 35), 2 * 5 * 3 * 7)
    assert addition == (4 * (35 + 7 + 35), 0)


def test_a_launch_takes_the_longest_of_its_times():
    for work, seconds in (((8, 2), 5e-6), ((3.35e12, 0), 1), ((0, 6.7e13), 1)):
        assert launches.Launch(*work).seconds() == pytest.approx(seconds)
