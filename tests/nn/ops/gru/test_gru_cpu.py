"""The checks of tables; that the compiled steps are right is tested in test_gru_recurrence.py."""

import pytest
import torch
from allennlp_sentmatch.nn.ops.gru.tables import GRUTables

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.gru import cpu
from tests.nn.ops.conftest import NEEDS_COMPILED

pytestmark = NEEDS_COMPILED
S, N, H = 2, 5, 3


@pytest.mark.parametrize("table", ["gates", "candidate", "hidden", "grad_hidden"])
def test_a_wrong_table_is_refused(table):
    states, grad = torch.zeros(2, S, N, H), torch.zeros(S, N, H)
    biases, weights = torch.zeros(S, 3 * H), [torch.zeros(3 * H, H)] * S
    layer = GRUTables([3, 2], weights, biases, torch.zeros(S, N, 3 * H), *states)
    if table == "grad_hidden":
        grad = grad.transpose(0, 1).contiguous().transpose(0, 1)
    else:
        wrong = getattr(layer, table)[..., :-1].contiguous()
        layer = layer._replace(**{table: wrong})
    with pytest.raises((ValueError, RuntimeError), match="expected a"):
        cpu.backward(Backend("cpu"), layer, grad)
