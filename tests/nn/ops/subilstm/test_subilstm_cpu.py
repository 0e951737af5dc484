"""The checks of tables and steps before they go to the C++."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.subilstm.cpu import NativeLSTMCell
from allennlp_sentmatch.nn.ops.subilstm.tables import SuffixTables
from tests.nn.ops.conftest import NEEDS_COMPILED

pytestmark = NEEDS_COMPILED
S, R, N, H = 2, 4, 3, 5


def arguments():
    """Those of `NativeLSTMCell.forward` after the backend."""
    rows = (S, R, N, H)
    return {
        "x": torch.zeros(S, 1, N, 4 * H),
        "u": torch.zeros(S, R * N, 4 * H),
        "hidden": torch.zeros(rows),
        "cell": torch.zeros(rows),
        "gates": torch.zeros(S, R, N, 4 * H),
        "old_cell": torch.zeros(rows),
        "tanh_cell": torch.zeros(rows),
    }


def forward(tensors):
    x, u, hidden, cell, gates, *kept = tensors.values()
    NativeLSTMCell.forward(Backend("cpu"), x, u, [hidden, cell], gates, kept)


def backward(tensors):
    _, _, hidden, cell, gates, *kept = tensors.values()
    tables = SuffixTables(torch.zeros_like(hidden), gates, tuple(kept))
    NativeLSTMCell.backward([hidden, cell], tables, torch.zeros(S, R, N, 4 * H))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda x: x.transpose(-1, -2).contiguous().transpose(-1, -2), "contiguous|strides"),
        (lambda x: x.double(), "torch.float64|torch.float32"),
        (lambda x: x.to("meta"), "meta|on the CPU"),
        (lambda x: x[..., :-1].contiguous(), "expected"),
        (lambda x: x[..., :-1, :].contiguous(), "expected|same strides"),
    ],
    ids=["strided", "double", "elsewhere", "narrow", "short"],
)
@pytest.mark.parametrize("name", arguments())
def test_a_wrong_table_is_refused(name, spoil, message):
    forward(arguments())
    backward(arguments())
    tensors = arguments()
    tensors[name] = spoil(tensors[name])
    with pytest.raises(ValueError, match=message):
        forward(tensors)
    if name not in ("x", "u"):
        with pytest.raises(ValueError, match=message):
            backward(tensors)


@pytest.mark.parametrize(("dtype", "vanished"), [(torch.float32, 1e-31), (torch.float64, 1e-301)])
def test_vanished_gradients_are_zero(dtype, vanished):
    """Their products with gates and weights could be denormal numbers, which are slow."""
    half = torch.full((S, R, N, H), 0.5, dtype=dtype)
    tables = SuffixTables(half, half.repeat(1, 1, 1, 4), (half, half))
    grads = [torch.zeros_like(half), torch.zeros_like(half)]
    grads[0][:, 0] = grads[1][:, 1] = vanished
    grads[0][:, 2] = grads[1][:, 3] = 1e-20
    out = torch.full((S, R, N, 4 * H), torch.nan, dtype=dtype)
    NativeLSTMCell.backward(grads, tables, out)
    assert not out[:, :2].any()
    assert not grads[1][:, :2].any()
    # dc = dh * o * (1 - tanh(c)^2) is 0.375e-20 in row 2, and 1e-20 in row 3.
    torch.testing.assert_close(
        grads[1][:, 2], 0.1875e-20 * torch.ones_like(half[:, 2]), atol=0, rtol=1e-6
    )
    torch.testing.assert_close(
        grads[1][:, 3], 0.5e-20 * torch.ones_like(half[:, 3]), atol=0, rtol=1e-6
    )
