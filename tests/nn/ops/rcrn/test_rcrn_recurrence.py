"""RCRN's recurrence in both forms."""

import pytest
import torch

from allennlp_sentmatch.nn import use_backend
from allennlp_sentmatch.nn.ops.rcrn.recurrence import controlled_recurrence


@pytest.fixture(params=["naive", "parallel"], autouse=True)
def _backend(request):
    with use_backend(request.param):
        yield


def arguments(T: int) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(T)
    forget = torch.rand(2, T, 3, dtype=torch.float64, requires_grad=True)
    values = torch.randn(2, T, 3, dtype=torch.float64, requires_grad=True)
    return forget, values


@pytest.mark.parametrize("T", [0, 1, 2, 3, 5, 8, 13])
def test_the_equation(T: int):
    forget, values = arguments(T)
    cell = torch.zeros(2, 3, dtype=torch.float64)
    actual = controlled_recurrence(forget, values)
    assert actual.shape == values.shape
    for f, x, c in zip(forget.unbind(1), values.unbind(1), actual.unbind(1)):
        cell = f * cell + (1 - f) * x
        torch.testing.assert_close(c, cell, rtol=0, atol=1e-12)


@pytest.mark.parametrize("T", [1, 2, 5])
def test_gradients(T: int):
    assert torch.autograd.gradcheck(controlled_recurrence, arguments(T))
