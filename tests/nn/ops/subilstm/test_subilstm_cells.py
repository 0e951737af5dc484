"""The compiled cells in isolation."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.subilstm.cells import NativeLSTMCell, SuffixTables
from allennlp_sentmatch.nn.ops.subilstm.schedule import Step
from tests.nn.ops.conftest import NEEDS_COMPILED

pytestmark = NEEDS_COMPILED
S = 2
R = 4
T = 6
N = 3
H = 5
STEP = Step(t=4, first=0, suffixes=R, sentences=N, offset=0)


def tables(value=0.0, dtype=torch.float32):
    shapes = (2, S, R * N, H), (S, R * N, 4 * H), (S, R * N, H)
    return SuffixTables(*(torch.full(shape, value, dtype=dtype) for shape in shapes))


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"t": T},
        {"t": -1},
        {"first": 1},
        {"first": -1},
        {"sentences": N + 1},
        {"offset": 1},
    ],
)
def test_a_step_outside_of_its_tables_is_refused(change):
    states = torch.zeros(2, S, R, N, H)
    projected = torch.zeros(S, T, N, 4 * H)
    weights = torch.zeros(S, 4 * H, H)
    forward = NativeLSTMCell(Backend("cpu"), states, projected, weights)
    forward.bind(tables())
    back = NativeLSTMCell(Backend("cpu"), states)
    back.bind(tables(), torch.zeros(S, R * N, 4 * H))
    for run in (forward.advance, back.retreat):
        if not change or (run == back.retreat and "t" in change and change["t"] > 0):
            run(STEP._replace(**change))  # going back needs no tokens
        else:
            with pytest.raises(IndexError, match="is not within its tables"):
                run(STEP._replace(**change))


@pytest.mark.parametrize(
    ("dtype", "vanished"),
    [
        (torch.float32, 1e-31),
        (torch.float64, 1e-301),
    ],
)
def test_vanished_gradients_are_zero(dtype, vanished):
    """Their products with gates and weights could be denormal numbers, which are slow."""
    grads = torch.zeros(2, S, R, N, H, dtype=dtype)
    grads[0, :, 0] = grads[1, :, 1] = vanished
    grads[0, :, 2] = grads[1, :, 3] = 1e-20
    out = torch.full((S, R * N, 4 * H), torch.nan, dtype=dtype)
    cell = NativeLSTMCell(Backend("cpu"), grads)
    cell.bind(tables(0.5, dtype), out)
    cell.retreat(STEP)
    assert not out[:, : 2 * N].any()
    assert not grads[1, :, :2].any()
    # dc = dh * o * (1 - tanh(c)^2) is 0.375e-20 in row 2, and 1e-20 in row 3.
    for row, expected in ((2, 0.1875e-20), (3, 0.5e-20)):
        actual = grads[1, :, row]
        torch.testing.assert_close(
            actual,
            torch.full_like(actual, expected),
            atol=0,
            rtol=1e-6,
        )
