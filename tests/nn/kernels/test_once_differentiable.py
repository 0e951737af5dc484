import pytest
import torch

from allennlp_sentmatch.nn import (
    LSTMN,
    CellAwareLSTM,
    GumbelTreeLSTM,
    RecurrentlyControlledRNN,
    SuffixBiLSTM,
)
from allennlp_sentmatch.nn.fast_paths import fast_paths
from allennlp_sentmatch.nn.kernels.once_differentiable import once_differentiable

ENCODERS = [CellAwareLSTM, SuffixBiLSTM, RecurrentlyControlledRNN, LSTMN, GumbelTreeLSTM]


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


def test_a_gradient_is_given_and_a_gradient_of_it_refused():
    x = torch.tensor(3.0, requires_grad=True)
    assert torch.autograd.grad(Square.apply(x), x) == (torch.tensor(6.0),)
    with pytest.raises(RuntimeError, match="no second derivative"):
        torch.autograd.grad(Square.apply(x), x, create_graph=True)


@pytest.mark.parametrize("encoder_class", ENCODERS)
def test_no_encoder_hands_out_a_gradient_without_its_graph(encoder_class):
    encoder = encoder_class(3, 4).eval()
    inputs = torch.randn(2, 5, 3, requires_grad=True)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    with pytest.raises(RuntimeError, match=r"fast_paths\(False\)"):
        torch.autograd.grad(encoder(inputs, mask).sum(), inputs, create_graph=True)
    with fast_paths(False), torch.backends.mkldnn.flags(enabled=False):
        (gradient,) = torch.autograd.grad(encoder(inputs, mask).sum(), inputs, create_graph=True)
    gradient.square().sum().backward()
    assert all(p.grad is not None for n, p in encoder.named_parameters() if "weight_hh" in n)
