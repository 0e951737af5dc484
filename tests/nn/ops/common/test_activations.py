"""The fast tanh is that of torch."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.common.activations import tanh_by_sigmoid


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (torch.float32, 2e-7),
        (torch.float64, 1e-15),
    ],
)
def test_tanh(dtype, tolerance):
    x = torch.cat([torch.linspace(-20, 20, 4001), torch.tensor([1e30, -1e30, 0.0])]).to(dtype)
    expected = torch.tanh(x.double())
    torch.testing.assert_close(tanh_by_sigmoid(x).double(), expected, rtol=0, atol=tolerance)
    out = x.clone()
    assert tanh_by_sigmoid(out, out=out) is out
    torch.testing.assert_close(out.double(), expected, rtol=0, atol=tolerance)
    assert tanh_by_sigmoid(torch.tensor([float("nan")], dtype=dtype)).isnan().all()
