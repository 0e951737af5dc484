import pytest
import torch

from allennlp_sentmatch.nn.ops.common.activations import (
    sigmoid_backward,
    tanh_backward,
    tanh_by_sigmoid,
)

DTYPES = [(torch.float32, 2e-7), (torch.float64, 1e-15)]


@pytest.mark.parametrize(("dtype", "tolerance"), DTYPES)
def test_tanh(dtype, tolerance):
    x = torch.cat([torch.linspace(-20, 20, 4001), torch.tensor([1e30, -1e30, 0.0])]).to(dtype)
    expected = torch.tanh(x.double())
    torch.testing.assert_close(tanh_by_sigmoid(x).double(), expected, rtol=0, atol=tolerance)
    out = x.clone()
    assert tanh_by_sigmoid(out, out=out) is out
    torch.testing.assert_close(out.double(), expected, rtol=0, atol=tolerance)
    assert tanh_by_sigmoid(torch.tensor([float("nan")], dtype=dtype)).isnan().all()


@pytest.mark.parametrize(("dtype", "tolerance"), DTYPES)
def test_derivatives(dtype, tolerance):
    x = torch.linspace(-5, 5, 101, dtype=torch.float64, requires_grad=True)
    upstream = torch.linspace(-1, 2, 101, dtype=torch.float64)
    for function, derivative in ((torch.sigmoid, sigmoid_backward), (torch.tanh, tanh_backward)):
        y = function(x)
        (expected,) = torch.autograd.grad(y, x, upstream)
        # Into a part of something larger, as the recurrences have it.
        out = torch.zeros(101, 3, dtype=dtype)
        derivative(upstream.to(dtype), y.detach().to(dtype), out=out[:, 1])
        torch.testing.assert_close(out[:, 1].double(), expected, rtol=0, atol=tolerance)
        assert (out[:, ::2] == 0).all()
