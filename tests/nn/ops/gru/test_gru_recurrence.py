"""The backends of a GRU's layer against `torch.nn.GRU`, one sentence at a time."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.common.scan import CAN_RECORD
from allennlp_sentmatch.nn.ops.gru.naive import GRUWeights
from allennlp_sentmatch.nn.ops.gru.recurrence import gru_recurrence
from tests.nn.ops.conftest import CPU_BACKENDS

D, H = 3, 19  # of no vector's width
BATCHES = [[7, 2, 0, 5, 7, 1], [4, 4], [1], [0, 0]]

every_backend = pytest.mark.parametrize(
    "backend",
    [
        *CPU_BACKENDS,
        "naive",
        pytest.param(
            "scan", marks=pytest.mark.skipif(not CAN_RECORD, reason="torch 2.7 is the first")
        ),
    ],
    indirect=True,
)


def make(bidirectional=True):
    torch.manual_seed(0)
    gru = torch.nn.GRU(D, H, batch_first=True, bidirectional=bidirectional).double()
    for parameter in gru.parameters():
        torch.nn.init.normal_(parameter)
    return gru


def batch(lengths, padding=1):
    num_tokens = max(lengths) + padding
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(len(lengths), num_tokens, D, dtype=torch.float64, generator=generator)
    return inputs, torch.arange(num_tokens) < torch.tensor(lengths).unsqueeze(1)


def run(gru, inputs, mask):
    return gru_recurrence(inputs, mask, [GRUWeights(*weights) for weights in gru.all_weights])


def one_at_a_time(gru, inputs, mask):
    outputs = 0.0 * inputs.sum() + inputs.new_zeros(*mask.shape, H * (1 + gru.bidirectional))
    for row, length in enumerate(mask.sum(1).tolist()):
        if length:
            outputs[row, :length] = gru(inputs[row : row + 1, :length])[0][0]
    return outputs


def values_and_gradients(function, gru, inputs, mask):
    inputs = inputs.clone().requires_grad_()
    outputs = function(gru, inputs, mask)
    generator = torch.Generator().manual_seed(2)
    upstream = torch.randn(outputs.shape, generator=generator, dtype=torch.float64)
    trained = [x for x in gru.parameters() if x.requires_grad]
    grads = torch.autograd.grad((outputs * upstream).sum(), [inputs, *trained], allow_unused=True)
    grads = [torch.zeros_like(x) if g is None else g for x, g in zip([inputs, *trained], grads)]
    return [outputs.detach(), *grads]


@every_backend
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("lengths", BATCHES, ids=str)
def test_values_and_gradients_are_torch_s(backend, bidirectional, lengths):
    gru, (inputs, mask) = make(bidirectional), batch(lengths)
    expected = values_and_gradients(one_at_a_time, gru, inputs, mask)
    spoiled = inputs.masked_fill(~mask.unsqueeze(-1), float("nan"))
    actual = values_and_gradients(run, gru, spoiled, mask)
    torch.testing.assert_close(actual, expected, atol=1e-11, rtol=1e-11)


@every_backend
def test_gradcheck(backend):
    gru, (inputs, mask) = make(), batch([3, 1], padding=0)
    assert torch.autograd.gradcheck(
        lambda x, *_: run(gru, x, mask), (inputs.requires_grad_(), *gru.parameters())
    )


@pytest.mark.parametrize("backend", CPU_BACKENDS, indirect=True)
def test_single_precision(backend):
    gru, (inputs, mask) = make(), batch(BATCHES[0])
    expected = run(gru, inputs, mask).float()
    actual = run(gru.float(), inputs.float(), mask)
    assert actual.dtype == torch.float32
    torch.testing.assert_close(actual, expected, atol=2e-6, rtol=0)
