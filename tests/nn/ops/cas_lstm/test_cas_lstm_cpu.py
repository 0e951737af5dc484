"""The compiled steps' own properties; that they are right is tested in test_lstm_recurrence.py."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.cas_lstm import cpu
from allennlp_sentmatch.nn.ops.cas_lstm.tables import LayerGradients, LayerTables
from tests.nn.ops.conftest import NEEDS_COMPILED

pytestmark = NEEDS_COMPILED
S, N, H = 2, 5, 3


def tables(gates, sizes):
    """Those of an LSTM without recurrent weights."""
    S, N, H = *gates.shape[:2], gates.size(-1) // 4
    hidden, cell = gates.new_full((2, S, N, H), float("nan"))
    weight = gates.new_zeros(4 * H, H)
    return LayerTables(sizes, [weight] * S, gates, hidden, cell, None, 1.0, 1.0, None)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 3e-7), (torch.float64, 1e-15)])
@pytest.mark.parametrize("H", [1, 7, 64])  # what vectors of any width leave over
def test_the_activations_are_torch_s(dtype, tolerance, H):
    """A step without a state before it, over all arguments that make a difference and beyond."""
    edges = [0.0, 1e-30, 88.0, 89.0, 104.0, 708.0, 710.0, 746.0, 1e30, float("inf")]
    x = torch.cat([torch.linspace(-40, 40, 8001), torch.tensor(edges), -torch.tensor(edges)])
    x = torch.nn.functional.pad(x.to(dtype), (0, -len(x) % H)).view(1, -1, H)
    one = torch.full_like(x, 40)
    layer = tables(torch.cat([x, one, one, one], -1), [x.size(1)])  # i, f, g, o
    cpu.forward(Backend("cpu"), layer)
    torch.testing.assert_close(layer.cell, x.sigmoid(), rtol=0, atol=tolerance)
    torch.testing.assert_close(layer.hidden, x.sigmoid().tanh(), rtol=0, atol=tolerance)
    layer = tables(torch.cat([one, one, x, one], -1), [x.size(1)])
    cpu.forward(Backend("cpu"), layer)
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


def gradients(layer):
    return LayerGradients(torch.zeros_like(layer.cell), None, None, None)


def bind(layer, left_cell=None, carried=None, **wrong):
    layer = layer._replace(**{k: v for k, v in wrong.items() if k in layer._fields})
    grads = gradients(layer)._replace(lower=layer.lower)
    left_cell = layer.cell if left_cell is None else left_cell
    carried = torch.zeros(S, 3, H) if carried is None else carried
    return cpu.NativeLayer(layer, left_cell, grads, carried)


@pytest.mark.parametrize(
    "table", ["gates", "hidden", "cell", "left_cell", "lower", "carried", "peephole_left"]
)
def test_a_wrong_table_is_refused(table):
    layer = tables(torch.zeros(S, N, 5 * H), [3, 2])
    layer = layer._replace(
        hidden=torch.zeros(S, N, H), cell=torch.zeros(S, N, H), lower=torch.zeros(S, N, H)
    )
    bind(layer)
    with pytest.raises(ValueError, match=r"torch.float64"):
        bind(layer, **{table: torch.zeros(S, N, H).double()})


def test_a_layer_above_another_needs_its_gradient_s_buffer():
    layer = tables(torch.zeros(S, N, 4 * H), [3, 2])
    layer = layer._replace(gates=torch.zeros(S, N, 5 * H), lower=torch.zeros(S, N, H))
    with pytest.raises(ValueError, match="needs a buffer"):
        cpu.NativeLayer(layer, layer.cell, gradients(layer), torch.zeros(S, 3, H))


def test_wrong_recurrent_rows_are_refused():
    two_steps = tables(torch.zeros(S, N, 4 * H), [3, 2])
    layer = cpu.NativeLayer(two_steps, two_steps.cell)
    for wrong in (
        torch.zeros(1, 4 * H),
        torch.zeros(2, 4 * H).double(),
        torch.zeros(4 * H, 2).t(),
        torch.zeros(2, 4 * H - 1),
    ):
        with pytest.raises(ValueError, match=r"expected a|too few gates"):
            layer.forward(0, 3, 0, 2, wrong)
