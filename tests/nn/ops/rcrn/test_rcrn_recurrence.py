"""RCRN's recurrence on GPUs against the naive form."""

import os

import pytest
import torch

from allennlp_sentmatch.nn import use_backend
from allennlp_sentmatch.nn.ops.rcrn import gpu
from allennlp_sentmatch.nn.ops.rcrn.recurrence import controlled_recurrence

interpreted = pytest.mark.skipif(
    os.environ.get("TRITON_INTERPRET") != "1", reason="see `make test-triton`"
)
LENGTHS = [0, 1, 2, 3, 5, 8, 13]


def arguments(T):
    torch.manual_seed(T)
    forget = torch.rand(2, T, 3, dtype=torch.float64, requires_grad=True)
    values = torch.randn(2, T, 3, dtype=torch.float64, requires_grad=True)
    return forget, values


def test_the_naive_form_follows_the_equation():
    forget, values = arguments(3)
    f, x = forget.unbind(1), values.unbind(1)
    first = (1 - f[0]) * x[0]
    second = f[1] * first + (1 - f[1]) * x[1]
    third = f[2] * second + (1 - f[2]) * x[2]
    with use_backend("naive"):
        actual = controlled_recurrence(forget, values)
    expected = torch.stack([first, second, third], 1)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)


@interpreted
@pytest.mark.parametrize("T", LENGTHS)
def test_is_the_naive_form(T):
    forget, values = arguments(T)
    with use_backend("naive"):
        expected = controlled_recurrence(forget, values)
    with use_backend("gpu"):
        actual = controlled_recurrence(forget, values)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)
    upstream = torch.randn_like(expected)
    for ours, theirs in zip(
        torch.autograd.grad(actual, (forget, values), upstream),
        torch.autograd.grad(expected, (forget, values), upstream),
    ):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


@interpreted
def test_gradients():
    with use_backend("gpu"):
        assert torch.autograd.gradcheck(controlled_recurrence, arguments(5))


@interpreted
def test_triton_reads_and_writes_nothing_beyond_the_tables():
    torch.manual_seed(0)
    inside = [torch.rand(3, 2, dtype=torch.float64) for _ in range(4)]
    surrounded = [torch.nn.functional.pad(x, (0, 0, 1, 1), value=float("nan")) for x in inside]
    expected = gpu.backward(*inside)
    actual = gpu.backward(*(x[1:-1] for x in surrounded))
    assert all(map(torch.equal, actual, expected))
    assert all(x[[0, -1]].isnan().all() for x in surrounded)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("T", LENGTHS[1:])
def test_on_a_gpu(T):
    forget, values = arguments(T)
    with use_backend("naive"):
        expected = controlled_recurrence(forget, values)
    with use_backend("gpu"):
        actual = controlled_recurrence(forget.float().cuda(), values.float().cuda())
    torch.testing.assert_close(actual.cpu().double(), expected, rtol=0, atol=1e-5)
