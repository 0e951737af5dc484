"""The compiled steps' own properties; that they are right is tested in test_lstm_recurrence.py."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.lstm import cpu
from allennlp_sentmatch.nn.ops.lstm.tables import LayerGradients, LayerTables
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


@pytest.mark.parametrize("table", ["gates", "hidden", "cell", "left_cell", "lower"])
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda x: x.transpose(0, 1).contiguous().transpose(0, 1), "contiguous"),
        (lambda x: x.double(), "torch.float64"),
        (lambda x: x.to("meta"), "on meta"),
        (lambda x: x[..., :-1].contiguous(), "expected a table"),
        (lambda x: x[:, :-1].contiguous(), "expected a table"),
    ],
    ids=["strided", "double", "elsewhere", "narrow", "short"],
)
def test_a_wrong_table_is_refused(table, spoil, message):
    layer = tables(torch.zeros(S, N, 4 * H), [3, 2])
    if table == "lower":
        layer = layer._replace(
            gates=torch.zeros(S, N, 5 * H), lower=torch.zeros(S, N, H), weight_hh=[]
        )
    left_cell = layer.cell
    grads = gradients(layer)._replace(lower=layer.lower)
    carried = torch.zeros(S, 3, H)
    cpu.BoundForward(layer, left_cell, 5 * H)
    cpu.BoundBackward(layer, left_cell, grads, carried)
    if table == "left_cell":
        left_cell = spoil(left_cell)
    else:
        layer = layer._replace(**{table: spoil(getattr(layer, table))})
    with pytest.raises(ValueError, match=message):
        cpu.BoundForward(layer, left_cell, 5 * H)
    if table != "hidden":  # which the backward pass does not need
        with pytest.raises(ValueError, match=message):
            cpu.BoundBackward(layer, left_cell, grads, carried)


@pytest.mark.parametrize("table", ["hidden", "cell", "carried"])
def test_a_wrong_gradient_is_refused(table):
    layer = tables(torch.zeros(S, N, 4 * H), [3, 2])
    grads, carried = gradients(layer), torch.zeros(S, 3, H)
    wrong = torch.zeros(S, N, H, dtype=torch.float64)
    if table == "carried":
        carried = wrong
    else:
        grads = grads._replace(**{table: wrong})
    with pytest.raises(ValueError, match=r"torch.float64"):
        cpu.BoundBackward(layer, layer.cell, grads, carried)


def test_a_layer_above_another_needs_its_gradient_s_buffer():
    layer = tables(torch.zeros(S, N, 5 * H)[..., : 4 * H].contiguous(), [3, 2])
    layer = layer._replace(gates=torch.zeros(S, N, 5 * H), lower=torch.zeros(S, N, H))
    with pytest.raises(ValueError, match="needs a buffer"):
        cpu.BoundBackward(layer, layer.cell, gradients(layer), torch.zeros(S, 3, H))


@pytest.mark.parametrize(("lower", "width"), [(False, 4 * H - 1), (True, 5 * H - 1)])
def test_recurrent_rows_hold_all_gates(lower, width):
    layer = tables(torch.zeros(S, N, 4 * H), [3, 2])
    if lower:
        layer = layer._replace(gates=torch.zeros(S, N, 5 * H), lower=torch.zeros(S, N, H))
    with pytest.raises(ValueError, match="too narrow"):
        cpu.BoundForward(layer, layer.cell, width)


@pytest.mark.parametrize(
    ("s", "start", "left_start", "n"),
    [(2, 0, 0, 1), (-1, 0, 0, 1), (0, 5, 0, 1), (0, 3, 0, 3), (0, -1, 0, 1), (0, 3, 4, 2)]
    + [(0, 0, -1, 1), (0, 0, 0, -1), (0, 2**62, 0, 2**62)],
)
def test_a_step_beyond_the_tables_is_refused(s, start, left_start, n):
    layer = tables(torch.zeros(S, N, 4 * H), [3, 2])
    forward = cpu.BoundForward(layer, layer.cell, 4 * H)
    backward = cpu.BoundBackward(layer, layer.cell, gradients(layer), torch.zeros(S, 3, H))
    recurrent = torch.zeros(n, 4 * H) if 0 <= n <= N else None
    if recurrent is not None or n < 0 or start > N:
        with pytest.raises(IndexError):
            forward.run(s, start, left_start, n, recurrent)
    if left_start >= 0:  # else there is nothing on the left
        with pytest.raises(IndexError):
            backward.run(s, start, left_start, n, 0, None)
    with pytest.raises(IndexError):  # more rows after than there are
        backward.run(0, 0, -1, 1, 2, torch.zeros(2, H))
    assert layer.hidden.isnan().all()


def test_wrong_recurrent_rows_are_refused():
    layer = tables(torch.zeros(S, N, 4 * H), [3, 2])
    bound = cpu.BoundForward(layer, layer.cell, 4 * H)
    for wrong in (torch.zeros(1, 4 * H), torch.zeros(2, 4 * H).double(), torch.zeros(4 * H, 2).t()):
        with pytest.raises(ValueError, match="expected a"):
            bound.run(0, 3, 0, 2, wrong)
