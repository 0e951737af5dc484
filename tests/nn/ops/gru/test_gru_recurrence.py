"""The naive form of a GRU's layer, which test_every_recurrence.py does not run, against torch's."""

import pytest
import torch

from allennlp_sentmatch.nn import use_backend
from allennlp_sentmatch.nn.ops.common.execution import CAN_RECORD
from allennlp_sentmatch.nn.ops.gru.naive import GRUWeights
from allennlp_sentmatch.nn.ops.gru.recurrence import gru_recurrence

LENGTHS = [5, 2, 0, 1]


@pytest.mark.parametrize("backend", ["naive", *(["scan"] if CAN_RECORD else [])])
def test_each_sentence_is_read_as_by_torch(backend):
    torch.manual_seed(0)
    gru = torch.nn.GRU(3, 4, batch_first=True, bidirectional=True).double()
    inputs = torch.randn(4, 6, 3, dtype=torch.float64)
    mask = torch.arange(6) < torch.tensor(LENGTHS).unsqueeze(1)
    spoiled = inputs.masked_fill(~mask.unsqueeze(-1), float("nan")).requires_grad_()
    with use_backend(backend):
        weights = [GRUWeights(*x) for x in gru.all_weights]
        outputs = gru_recurrence(spoiled, mask, weights)
    alone = [gru(x[None, :n])[0][0] for x, n in zip(spoiled, LENGTHS) if n]
    torch.testing.assert_close(outputs[mask], torch.cat(alone), atol=1e-12, rtol=0)
    assert not outputs[~mask].any()
    variables = [spoiled, *gru.parameters()]
    upstream = torch.randn_like(outputs[mask])
    actual = torch.autograd.grad(outputs[mask], variables, upstream)
    expected = torch.autograd.grad(torch.cat(alone), variables, upstream)
    torch.testing.assert_close(actual, expected, atol=1e-9, rtol=0)
