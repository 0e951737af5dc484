"""The arithmetic of the compiled steps; test_cas_lstm_recurrence.py tests that they are right."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm.layer import (
    STEPS,
    LayerInputs,
    LayerParameters,
    LayerTables,
)
from allennlp_sentmatch.nn.ops.common.packing import Packing
from tests.nn.ops.conftest import NEEDS_COMPILED

pytestmark = NEEDS_COMPILED


def tables(gates, sizes):
    """The gates of an LSTM without recurrent weights."""
    S, N, H = *gates.shape[:2], gates.size(-1) // 4
    hidden, cell = gates.new_full((2, S, N, H), float("nan"))
    weight = gates.new_zeros(4 * H, H)
    parameters = LayerParameters([weight] * S, [weight] * S, weight[:, 0], 1.0, None, None)
    x = LayerInputs(None, None, None)
    packing = Packing(sizes, indices=None, before=None, shape=None)
    return LayerTables(packing, x, parameters, gates, hidden, cell)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 3e-7), (torch.float64, 1e-15)])
@pytest.mark.parametrize("H", [1, 7, 64])  # remainders for vectors of any width
def test_the_activations_are_torch_s(dtype, tolerance, H):
    """A step without a previous state, over all arguments that matter and beyond."""
    edges = [0.0, 1e-30, 88.0, 89.0, 104.0, 708.0, 710.0, 746.0, 1e30, float("inf")]
    x = torch.cat([torch.linspace(-40, 40, 8001), torch.tensor(edges), -torch.tensor(edges)])
    x = torch.nn.functional.pad(x.to(dtype), (0, -len(x) % H)).view(1, -1, H)
    one = torch.full_like(x, 40)
    layer = tables(torch.cat([x, one, one, one], -1), [x.size(1)])  # i, f, g, o
    STEPS["cpu"].forward(Backend("cpu"), layer)
    torch.testing.assert_close(layer.cell, x.sigmoid(), rtol=0, atol=tolerance)
    torch.testing.assert_close(layer.hidden, x.sigmoid().tanh(), rtol=0, atol=tolerance)
    layer = tables(torch.cat([one, one, x, one], -1), [x.size(1)])
    STEPS["cpu"].forward(Backend("cpu"), layer)
    torch.testing.assert_close(layer.cell, x.tanh(), rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_no_number_stays_none(dtype):
    H = 20
    gates = torch.zeros(1, 3, 4 * H, dtype=dtype)
    gates[:, 1, :H] = float("nan")
    layer = tables(gates, [3])
    STEPS["cpu"].forward(Backend("cpu"), layer)
    assert layer.hidden[:, 1].isnan().all()
    assert not layer.hidden[:, [0, 2]].any()
