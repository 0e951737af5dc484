"""What is the compiled steps' own; that they are right is tested in test_lstm_stack.py."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.lstm import cpu as compiled
from tests.nn.ops.conftest import NEEDS_COMPILED


@NEEDS_COMPILED
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 3e-7), (torch.float64, 1e-15)])
@pytest.mark.parametrize("H", [1, 7, 64])  # what vectors of any width leave over
def test_the_activations_are_torch_s(dtype, tolerance, H):
    """A step without a state before it, over all arguments that make a difference and beyond."""
    edges = [0.0, 1e-30, 88.0, 89.0, 104.0, 708.0, 710.0, 746.0, 1e30, float("inf")]
    x = torch.cat([torch.linspace(-40, 40, 8001), torch.tensor(edges), -torch.tensor(edges)])
    x = torch.nn.functional.pad(x.to(dtype), (0, -len(x) % H)).view(1, -1, H)
    one = torch.full_like(x, 40)
    gates = torch.cat([x, one, one, one], -1)  # i, f, g, o
    hidden, cell = torch.empty_like(x), torch.empty_like(x)
    weight = torch.zeros(4 * H, H, dtype=dtype)
    compiled.read_steps([x.size(1)], [weight], gates, hidden, cell, None, 1.0, 1.0, None)
    torch.testing.assert_close(cell, x.sigmoid(), rtol=0, atol=tolerance)
    torch.testing.assert_close(hidden, x.sigmoid().tanh(), rtol=0, atol=tolerance)
    gates = torch.cat([one, one, x, one], -1)
    compiled.read_steps([x.size(1)], [weight], gates, hidden, cell, None, 1.0, 1.0, None)
    torch.testing.assert_close(cell, x.tanh(), rtol=0, atol=tolerance)


@NEEDS_COMPILED
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_no_number_stays_none(dtype):
    H = 20
    gates = torch.zeros(1, 3, 4 * H, dtype=dtype)
    gates[:, 1, :H] = float("nan")
    hidden, cell = torch.empty(2, 1, 3, H, dtype=dtype)
    weight = torch.zeros(4 * H, H, dtype=dtype)
    compiled.read_steps([3], [weight], gates, hidden, cell, None, 1.0, 1.0, None)
    assert hidden[:, 1].isnan().all()
    assert torch.equal(hidden[:, [0, 2]], torch.zeros(1, 2, H, dtype=dtype))
