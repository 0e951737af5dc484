"""The checks of tables and steps before they go to the C++."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.subilstm.cpu import NativeLSTMCell
from allennlp_sentmatch.nn.ops.subilstm.schedule import Step
from allennlp_sentmatch.nn.ops.subilstm.steps import SuffixTables
from tests.nn.ops.conftest import NEEDS_COMPILED

pytestmark = NEEDS_COMPILED
S, R, T, N, H = 2, 4, 6, 3, 5
STEP = Step(t=4, first=0, suffixes=R, sentences=N, offset=0)


def advance(step=STEP, **changed):
    tensors = {
        "projected": torch.zeros(S, T, N, 4 * H),
        "states": torch.zeros(2, S, R, N, H),
        "weights": torch.zeros(S, 4 * H, H),
        **make_tables(),
        **changed,
    }
    projected, states, weights, *tables = tensors.values()
    cell = NativeLSTMCell(Backend("cpu"), states, projected, weights)
    cell.bind(SuffixTables(*tables))
    cell.advance(step)


def retreat(step=STEP, **changed):
    tensors = {**make_tables(), "grad_gates": torch.zeros(S, R * N, 4 * H), **changed}
    *tables, grad_gates = tensors.values()
    cell = NativeLSTMCell(Backend("cpu"), torch.zeros(2, S, R, N, H))
    cell.bind(SuffixTables(*tables), grad_gates)
    cell.retreat(step)


def make_tables():
    return {
        "old": torch.zeros(2, S, R * N, H),
        "gates": torch.zeros(S, R * N, 4 * H),
        "kept": torch.zeros(S, R * N, H),
    }


@pytest.mark.parametrize(
    "spoil",
    [
        lambda x: x.transpose(-1, -2).contiguous().transpose(-1, -2),
        lambda x: x.double(),
        lambda x: x.to("meta"),
        lambda x: x[..., :-1].contiguous(),
        lambda x: x[..., :-1, :].contiguous(),
    ],
    ids=["strided", "double", "elsewhere", "narrow", "short"],
)
@pytest.mark.parametrize("name", ["projected", "old", "gates", "kept", "grad_gates"])
def test_a_wrong_table_is_refused(name, spoil):
    shapes = {"projected": (S, T, N, 4 * H), "grad_gates": (S, R * N, 4 * H)}
    table = spoil(make_tables()[name] if name in make_tables() else torch.zeros(shapes[name]))
    for run, names in ((advance, ("projected",)), (retreat, ("grad_gates",))):
        run()
        if name in (*make_tables(), *names):
            with pytest.raises((ValueError, RuntimeError)):
                run(**{name: table})


@pytest.mark.parametrize(
    "change",
    [{"t": T}, {"t": -1}, {"first": 1}, {"first": -1}, {"sentences": N + 1}, {"offset": 1}],
)
def test_a_step_outside_of_its_tables_is_refused(change):
    advance()
    with pytest.raises(IndexError, match="is not within its tables"):
        advance(STEP._replace(**change))
    if change != {"t": T}:  # going back needs no tokens
        with pytest.raises(IndexError, match="is not within its tables"):
            retreat(STEP._replace(**change))


def test_a_wrong_product_is_refused():
    with pytest.raises(ValueError, match="expected a table"):
        advance(weights=torch.zeros(S, 4 * H - 1, H))


@pytest.mark.parametrize(("dtype", "vanished"), [(torch.float32, 1e-31), (torch.float64, 1e-301)])
def test_vanished_gradients_are_zero(dtype, vanished):
    """Their products with gates and weights could be denormal numbers, which are slow."""
    half = torch.full((S, R * N, H), 0.5, dtype=dtype)
    tables = SuffixTables(half.repeat(2, 1, 1, 1), half.repeat(1, 1, 4), half)
    grads = torch.zeros(2, S, R, N, H, dtype=dtype)
    grads[0, :, 0] = grads[1, :, 1] = vanished
    grads[0, :, 2] = grads[1, :, 3] = 1e-20
    out = torch.full((S, R * N, 4 * H), torch.nan, dtype=dtype)
    cell = NativeLSTMCell(Backend("cpu"), grads)
    cell.bind(tables, out)
    cell.retreat(STEP)
    assert not out[:, : 2 * N].any()
    assert not grads[1, :, :2].any()
    # dc = dh * o * (1 - tanh(c)^2) is 0.375e-20 in row 2, and 1e-20 in row 3.
    for row, expected in ((2, 0.1875e-20), (3, 0.5e-20)):
        actual = grads[1, :, row]
        torch.testing.assert_close(actual, torch.full_like(actual, expected), atol=0, rtol=1e-6)
