"""The compiled steps' own properties; that they are right is tested in test_gru_recurrence.py."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.gru import cpu
from allennlp_sentmatch.nn.ops.gru.tables import GRUTables
from tests.nn.ops.conftest import NEEDS_COMPILED

pytestmark = NEEDS_COMPILED
S, N, H = 2, 5, 3


def tables():
    gates, states = torch.zeros(S, N, 3 * H), torch.full((2, S, N, H), float("nan"))
    weight = torch.zeros(3 * H, H)
    return GRUTables([3, 2], [weight] * S, torch.zeros(S, 3 * H), gates, *states)


def gradients():
    """The gradients of U h + c and of h, and those from the step after."""
    return [torch.zeros(S, N, 3 * H), torch.zeros(S, N, H), torch.zeros(S, 3, H)]


SPOILED = pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda x: x.transpose(0, 1).contiguous().transpose(0, 1), "contiguous"),
        (lambda x: x.double(), "torch.float64"),
        (lambda x: x[..., :-1].contiguous(), "expected a table"),
    ],
    ids=["strided", "double", "narrow"],
)


@pytest.mark.parametrize("table", ["gates", "candidate"])
@SPOILED
def test_a_wrong_table_is_refused(table, spoil, message):
    layer = tables()
    cpu.BoundForward(layer)
    cpu.BoundBackward(layer, *gradients())
    layer = layer._replace(**{table: spoil(getattr(layer, table))})
    with pytest.raises(ValueError, match=message):
        cpu.BoundForward(layer)
    with pytest.raises(ValueError, match=message):
        cpu.BoundBackward(layer, *gradients())


@pytest.mark.parametrize("number", [0, 1, 2])
@SPOILED
def test_a_wrong_gradient_is_refused(number, spoil, message):
    wrong = gradients()
    wrong[number] = spoil(wrong[number])
    with pytest.raises(ValueError, match=message):
        cpu.BoundBackward(tables(), *wrong)


def test_wrong_recurrent_rows_are_refused():
    bound = cpu.BoundForward(tables())
    for wrong in (torch.zeros(1, 3 * H), torch.zeros(2, 3 * H).double(), torch.zeros(3 * H, 2).t()):
        with pytest.raises(ValueError, match="expected a"):
            bound.run(0, 3, 0, 2, wrong)


@pytest.mark.parametrize(
    ("s", "start", "left_start", "n"),
    [
        (2, 0, -1, 1),
        (-1, 0, -1, 1),
        (0, 5, 0, 1),
        (0, 3, 0, 3),
        (0, -1, 0, 1),
        (0, 3, 4, 2),
        (0, 3, -2, 2),
        (0, 0, -1, -1),
        (0, 0, -1, 2**62),
    ],
)
def test_a_step_beyond_the_tables_is_refused(s, start, left_start, n):
    layer = tables()
    with pytest.raises((IndexError, ValueError)):
        cpu.BoundForward(layer).run(s, start, left_start, n, torch.zeros(max(0, min(n, 9)), 3 * H))
    with pytest.raises(IndexError):
        cpu.BoundBackward(layer, *gradients()).run(s, start, left_start, n)
    assert layer.hidden.isnan().all()


def test_more_rows_than_sentences_are_refused():
    with pytest.raises(IndexError):
        cpu.BoundBackward(tables(), *gradients()).run(0, 0, -1, 4)
