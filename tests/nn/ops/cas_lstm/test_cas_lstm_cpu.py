"""The arithmetic of the compiled steps; test_cas_lstm_recurrence.py tests that they are right."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm import cpu
from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerInputs, LayerParameters, LayerTables
from allennlp_sentmatch.nn.ops.common.packing import Packing
from tests.nn.ops.conftest import NEEDS_COMPILED

pytestmark = NEEDS_COMPILED


def tables(gates, sizes):
    """Return the tables of an LSTM without recurrent weights, of gates (S, N, 4 H)."""
    S, N, _ = gates.shape
    H = gates.size(-1) // 4
    hidden, cell = gates.new_full((2, S, N, H), float("nan"))
    weight = gates.new_zeros(4 * H, H)
    parameters = LayerParameters([weight] * S, [weight] * S, weight[:, 0], 1.0, None, None)
    x = LayerInputs(None, None, None)
    packing = Packing(sizes, indices=None, before=None, shape=None)
    return LayerTables(packing, x, parameters, gates, hidden, cell)


def step(input_gate, candidate):
    """Return the states after a step without a previous state; the other gates are open."""
    is_open = torch.full_like(input_gate, OPEN)
    gates = torch.cat([input_gate, is_open, candidate, is_open], -1)  # i, f, g, o
    layer = tables(gates, [gates.size(1)])
    cpu.forward(Backend("cpu"), layer)
    return layer


OPEN = 40.0
"""An argument whose sigmoid and tanh are 1."""


EDGES = [0.0, 1e-30, 88.0, 89.0, 104.0, 708.0, 710.0, 746.0, 1e30, float("inf")]
"""Arguments at which exponentials begin to overflow or vanish."""


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (torch.float32, 3e-7),
        (torch.float64, 1e-15),
    ],
)
@pytest.mark.parametrize("H", [1, 7, 64])  # remainders for vectors of any width
def test_the_activations_are_torch_s(dtype, tolerance, H):
    """Test all arguments that matter, and beyond."""
    edges = torch.tensor(EDGES)
    x = torch.cat([torch.linspace(-40, 40, 8001), edges, -edges]).to(dtype)
    x = torch.nn.functional.pad(x, (0, -len(x) % H)).view(1, -1, H)
    is_open = torch.full_like(x, OPEN)
    layer = step(input_gate=x, candidate=is_open)
    torch.testing.assert_close(layer.cell, x.sigmoid(), rtol=0, atol=tolerance)
    torch.testing.assert_close(layer.hidden, x.sigmoid().tanh(), rtol=0, atol=tolerance)
    layer = step(input_gate=is_open, candidate=x)
    torch.testing.assert_close(layer.cell, x.tanh(), rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_no_number_stays_none(dtype):
    H = 20
    gates = torch.zeros(1, 3, 4 * H, dtype=dtype)
    gates[:, 1, :H] = float("nan")
    layer = tables(gates, [3])
    cpu.forward(Backend("cpu"), layer)
    assert layer.hidden[:, 1].isnan().all()
    assert not layer.hidden[:, [0, 2]].any()
