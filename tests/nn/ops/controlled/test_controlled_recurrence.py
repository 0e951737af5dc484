"""The fast recurrence of RCRN against the plain one."""

import os
from functools import partial

import pytest
import torch

from allennlp_sentmatch.nn.ops.backends import Backend
from allennlp_sentmatch.nn.ops.controlled import gpu
from allennlp_sentmatch.nn.ops.controlled import recurrence as kernel
from allennlp_sentmatch.nn.recurrently_controlled_rnn import controlled_recurrence

#: Under TRITON_INTERPRET=1 these tests are of the backend for GPUs (`make test-triton`).
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
BACKEND = Backend("gpu" if INTERPRETED else "eager")
LENGTHS = [1, 2, 3, 5, 8, 13]


def arguments(T):
    torch.manual_seed(T)
    forget = torch.rand(2, T, 3, dtype=torch.float64, requires_grad=True)
    values = torch.randn(2, T, 3, dtype=torch.float64, requires_grad=True)
    return forget, values


@pytest.mark.parametrize("T", LENGTHS)
def test_is_the_plain_recurrence(T):
    forget, values = arguments(T)
    plain = controlled_recurrence(forget, values)
    fast = kernel.controlled_recurrence(BACKEND, forget, values)
    torch.testing.assert_close(fast, plain, rtol=0, atol=1e-12)
    upstream = torch.randn_like(plain)
    for actual, expected in zip(
        torch.autograd.grad(fast, (forget, values), upstream),
        torch.autograd.grad(plain, (forget, values), upstream),
    ):
        torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)


def test_gradients():
    assert torch.autograd.gradcheck(partial(kernel.controlled_recurrence, BACKEND), arguments(5))


@pytest.mark.skipif(not INTERPRETED, reason="see `make test-triton`")
def test_triton_reads_and_writes_nothing_beyond_the_tables():
    torch.manual_seed(0)
    inside = [torch.rand(3, 2, dtype=torch.float64) for _ in range(4)]
    surrounded = [torch.nn.functional.pad(x, (0, 0, 1, 1), value=float("nan")) for x in inside]
    expected = gpu.read_back(*inside)
    actual = gpu.read_back(*(x[1:-1] for x in surrounded))
    assert all(map(torch.equal, actual, expected))
    assert all(x[[0, -1]].isnan().all() for x in surrounded)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("T", LENGTHS)
def test_on_a_gpu(T):
    forget, values = arguments(T)
    expected = controlled_recurrence(forget, values)
    actual = kernel.controlled_recurrence(
        Backend("gpu"), forget.float().cuda(), values.float().cuda()
    )
    torch.testing.assert_close(actual.cpu().double(), expected, rtol=0, atol=1e-5)
