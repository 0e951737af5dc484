"""The masked softmax against the softmax of the unmasked scores."""

import pytest
import torch

from allennlp_sentmatch.nn.ops.common.masked_softmax import masked_softmax


@pytest.mark.parametrize("offset", [0.0, -1e4, 1e4])
def test_equals_the_softmax_without_padding(offset):
    torch.manual_seed(0)
    scores = torch.randn(3, 2, 5, dtype=torch.float64) + offset
    mask = torch.arange(5) < torch.tensor([[5], [3], [1]])
    weights = masked_softmax(scores, mask.unsqueeze(1))
    for sentence, length in enumerate([5, 3, 1]):
        own = scores[sentence, :, :length] - offset
        alone = own.exp() / own.exp().sum(-1, keepdim=True)
        torch.testing.assert_close(weights[sentence, :, :length], alone, atol=1e-12, rtol=0)
        assert (weights[sentence, :, length:] == 0).all()


def test_nothing_to_attend_to():
    scores = torch.tensor([[1.0, float("nan")], [float("nan"), float("inf")]], requires_grad=True)
    weights = masked_softmax(scores, torch.tensor([[True, False], [False, False]]))
    assert weights[0, 0].item() == pytest.approx(1.0)
    assert not weights[0, 1:].any()
    assert not weights[1].any()
    weights.sum().backward()
    assert torch.isfinite(scores.grad).all()


NO_HALF = pytest.mark.skipif(
    torch.__version__ < (2,), reason="torch 1.12 has no float16 softmax on the CPU"
)


@pytest.mark.parametrize(
    "dtype", [pytest.param(torch.float16, marks=NO_HALF), torch.bfloat16, torch.float32]
)
def test_low_precision(dtype):
    scores = torch.full((1, 4), -3e4, dtype=dtype)
    weights = masked_softmax(scores, torch.tensor([[True, True, False, False]]))
    assert weights[0, :2].tolist() == pytest.approx([0.5, 0.5], rel=0.01)
    assert not weights[0, 2:].any()
