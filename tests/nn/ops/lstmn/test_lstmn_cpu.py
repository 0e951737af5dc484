"""The checks of tables and steps before they go to the C++."""

import pytest
import torch
from allennlp_sentmatch.nn.ops.lstmn.tables import LSTMNGradients, LSTMNTables, Tapes

from allennlp_sentmatch.nn.ops.common import native
from allennlp_sentmatch.nn.ops.lstmn.cpu import NativeAttention, NativeAttentionBackward
from tests.nn.ops.conftest import NEEDS_COMPILED

pytestmark = NEEDS_COMPILED
S, H, A = 2, 3, 4
SIZES = [3, 2]
B, T, N = 3, 2, 5


def make_tables():
    widths = {"gates": 4 * H, "queries": A, "hidden": H, "cell": H}
    tables = {name: torch.zeros(S, N, width) for name, width in widths.items()}
    tables = LSTMNTables(
        **tables, attention=torch.zeros(S, B, T, T), summary=torch.zeros(2, S, N, H)
    )
    return tables, Tapes(torch.zeros(S, N, A), torch.zeros(S, N, 2 * H))


def bind_backward(tables, tapes, **changed):
    rows = torch.zeros(S, N, A)
    vector = torch.zeros(S, native.num_threads(), A)
    grads = LSTMNGradients(tables.gates, rows, rows, vector, torch.zeros(2, S, B, H))
    grad_tapes = changed.pop("grad_tapes", torch.zeros(2, S, N, H))
    attention = changed.pop("attention", torch.zeros(S, B, T, T))
    grads = grads._replace(**changed)
    return NativeAttentionBackward(
        SIZES, tables, tapes, torch.zeros(S, A), attention, grad_tapes, grads
    )


@pytest.mark.parametrize("name", ["queries", "hidden", "attention", "summary", "keys", "states"])
def test_a_wrong_table_is_refused(name):
    tables, tapes = make_tables()
    vector = torch.zeros(S, A)
    NativeAttention(SIZES, tables, tapes, vector)
    bind_backward(tables, tapes)
    if name in tables._fields:
        tables = tables._replace(**{name: getattr(tables, name).double()})
    else:
        tapes = tapes._replace(**{name: getattr(tapes, name).double()})
    with pytest.raises(ValueError, match=r"torch.float64"):
        NativeAttention(SIZES, tables, tapes, vector)
    if name not in ("hidden", "summary"):  # which the backward pass does not need
        with pytest.raises(ValueError, match=r"torch.float64"):
            bind_backward(tables, tapes)


@pytest.mark.parametrize("name", ["queries", "keys", "vector", "grad_tapes", "attention"])
def test_a_wrong_gradient_is_refused(name):
    wrong = torch.zeros(2, S, N, H) if name == "grad_tapes" else torch.zeros(S, N, A)
    with pytest.raises(ValueError, match=r"torch.float64"):
        bind_backward(*make_tables(), **{name: wrong.double()})


@pytest.mark.parametrize("sizes", [[3, 1], [2, 3], [5, 0]])
def test_impossible_sizes_are_refused(sizes):
    tables, tapes = make_tables()
    tables = tables._replace(attention=torch.zeros(S, sizes[0], T, T))
    with pytest.raises(ValueError, match="sizes must"):
        NativeAttention(sizes, tables, tapes, torch.zeros(S, A))


def test_wrong_products_are_refused():
    attention = NativeAttention(SIZES, *make_tables(), torch.zeros(S, A))
    for wrong in (torch.zeros(2, 4 * H + A), torch.zeros(3, A), torch.zeros(3, 4 * H + A).double()):
        with pytest.raises(ValueError, match="expected a table"):
            attention.run(0, 1, torch.zeros(2, A), wrong)
    for wrong in (torch.zeros(3, A), torch.zeros(2, A).double()):
        with pytest.raises(ValueError, match="expected a table"):
            attention.run(0, 1, wrong, None)
