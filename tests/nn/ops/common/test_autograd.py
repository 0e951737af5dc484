from functools import partial

import pytest
import torch

from allennlp_sentmatch.nn import LSTMN, CellAwareLSTM, GumbelTreeLSTM, StackedRNN, SuffixBiLSTM
from allennlp_sentmatch.nn.ops.backends import use_backend
from allennlp_sentmatch.nn.ops.common.autograd import analytic_backward, writable

# Without RCRN: its networks are torch's own.
ENCODERS = [CellAwareLSTM, SuffixBiLSTM, LSTMN, GumbelTreeLSTM, partial(StackedRNN, cell="gru")]


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @analytic_backward
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


def test_a_gradient_is_given_and_a_gradient_of_it_refused():
    x = torch.tensor(3.0, requires_grad=True)
    assert torch.autograd.grad(Square.apply(x), x) == (torch.tensor(6.0),)
    with pytest.raises(RuntimeError, match="no derivative itself"):
        torch.autograd.grad(Square.apply(x), x, create_graph=True)


@pytest.mark.parametrize("encoder_class", ENCODERS)
def test_no_encoder_hands_out_a_gradient_without_its_graph(encoder_class):
    encoder = encoder_class(3, 4).eval()
    inputs = torch.randn(2, 5, 3, requires_grad=True)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    with pytest.raises(RuntimeError, match=r"use_backend\(\"naive\"\)"):
        torch.autograd.grad(encoder(inputs, mask).sum(), inputs, create_graph=True)
    with use_backend("naive"), torch.backends.mkldnn.flags(enabled=False):
        (gradient,) = torch.autograd.grad(encoder(inputs, mask).sum(), inputs, create_graph=True)
    gradient.square().sum().backward()
    assert all(p.grad is not None for n, p in encoder.named_parameters() if "weight_hh" in n)


@pytest.mark.parametrize("encoder_class", ENCODERS)
@pytest.mark.parametrize("narrowed", [False, True])
def test_autocast_narrows_nothing_in_a_recurrence(encoder_class, narrowed):
    """Neither in the forward nor in the backward pass; inputs may have been narrowed before."""
    torch.manual_seed(0)
    encoder = encoder_class(3, 4).eval()
    inputs = torch.randn(2, 5, 3).bfloat16().float()  # what both types can hold
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    results = []
    for autocast in (False, True):
        encoder.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
            outputs = encoder(inputs.bfloat16() if autocast and narrowed else inputs, mask)
            outputs.square().sum().backward()
        results.append([outputs, *(p.grad for p in encoder.parameters() if p.grad is not None)])
    expected, actual = results
    assert len(actual) == len(expected) > 1
    for ours, theirs in zip(actual, expected):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


class Exponential(torch.autograd.Function):
    """exp(x), whose backward pass writes where its forward pass saved."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.exp())
        return x.exp()

    @staticmethod
    def backward(ctx, grad):
        return writable(*ctx.saved_tensors).mul_(grad)


def test_a_kept_graph_gives_the_same_gradient_again():
    x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    y = (3 * Exponential.apply(x)).sum()
    for retain_graph in (True, True, False):
        (gradient,) = torch.autograd.grad(y, x, retain_graph=retain_graph)
        torch.testing.assert_close(gradient, 3 * x.detach().exp())
