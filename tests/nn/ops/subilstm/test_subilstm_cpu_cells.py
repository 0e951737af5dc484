"""The compiled cells in isolation."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.subilstm.cells import SuffixTables
from allennlp_sentmatch.nn.ops.subilstm.cpu_cells import NativeLSTMCell
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
    return SuffixTables(
        torch.full((2, S, R * N, H), value, dtype=dtype),
        torch.full((S, R * N, 4 * H), value, dtype=dtype),
        torch.full((S, R * N, H), value, dtype=dtype),
    )


OUTSIDE = [
    {"t": -1},
    {"first": 1},
    {"first": -1},
    {"sentences": N + 1},
    {"offset": 1},
]
"""Changes of `STEP` that leave the tables."""


@pytest.fixture
def forward():
    states = torch.zeros(2, S, R, N, H)
    projected = torch.zeros(S, T, N, 4 * H)
    weights = torch.zeros(S, 4 * H, H)
    cell = NativeLSTMCell(Backend("cpu"), states, projected, weights)
    cell.bind(tables())
    return cell


@pytest.fixture
def back():
    cell = NativeLSTMCell(Backend("cpu"), torch.zeros(2, S, R, N, H))
    cell.bind(tables(), torch.zeros(S, R * N, 4 * H))
    return cell


@pytest.mark.parametrize("change", [{"t": T}, *OUTSIDE])
def test_a_step_outside_of_its_tables_is_refused(forward, change):
    forward.advance(STEP)
    with pytest.raises(IndexError, match="is not within its tables"):
        forward.advance(STEP._replace(**change))


@pytest.mark.parametrize("change", OUTSIDE)
def test_a_step_back_outside_of_its_tables_is_refused(back, change):
    back.retreat(STEP)
    with pytest.raises(IndexError, match="is not within its tables"):
        back.retreat(STEP._replace(**change))


def test_a_step_back_needs_no_tokens(back):
    back.retreat(STEP._replace(t=T))


@pytest.mark.parametrize(("dtype", "vanished"), [(torch.float32, 1e-31), (torch.float64, 1e-301)])
def test_vanished_gradients_are_zero(dtype, vanished):
    """Their products with gates and weights could be denormal numbers, which are slow."""
    grads = torch.zeros(2, S, R, N, H, dtype=dtype)
    by_hidden, by_cell = grads
    by_hidden[:, 0] = vanished
    by_cell[:, 1] = vanished
    by_hidden[:, 2] = 1e-20
    by_cell[:, 3] = 1e-20
    out = torch.full((S, R * N, 4 * H), torch.nan, dtype=dtype)
    cell = NativeLSTMCell(Backend("cpu"), grads)
    cell.bind(tables(0.5, dtype), out)
    cell.retreat(STEP)
    assert not out[:, : 2 * N].any()
    assert not by_cell[:, :2].any()
    # dc = dh * o * (1 - tanh(c)^2) is 0.375e-20 in row 2, and 1e-20 in row 3.
    for row, expected in ((2, 0.1875e-20), (3, 0.5e-20)):
        actual = by_cell[:, row]
        torch.testing.assert_close(actual, torch.full_like(actual, expected), atol=0, rtol=1e-6)
