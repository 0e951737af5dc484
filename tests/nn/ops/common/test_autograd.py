"""A function's derivative is the one that it is given, with its graph."""

from functools import partial

import pytest
import torch
from torch.autograd.functional import jacobian

from allennlp_sentmatch.nn import LSTMN, CellAwareLSTM, GumbelTreeLSTM, StackedRNN, SuffixBiLSTM
from allennlp_sentmatch.nn.ops.backends import use_backend
from allennlp_sentmatch.nn.ops.common.autocast import is_autocast_enabled
from allennlp_sentmatch.nn.ops.common.autograd import differentiable, writable

# Without RCRN: its networks are torch's own.
ENCODERS = [CellAwareLSTM, SuffixBiLSTM, LSTMN, GumbelTreeLSTM, partial(StackedRNN, cell="gru")]


def forward(power, arguments, keep):
    """x ** power and its products with numbers."""
    assert not is_autocast_enabled("cpu")
    (x, _), numbers = arguments
    y = x**power
    return (y, y * numbers[0]), (y / x, None)


def backward(power, arguments, kept, gradients, needed):
    assert not is_autocast_enabled("cpu")
    assert needed == ((True, False), [False, False])
    (x, _), numbers = arguments
    by_y, by_product = (0 if gradient is None else gradient for gradient in gradients)
    upstream = by_y + by_product * numbers[0]
    quotient = writable(kept[0])
    return (quotient.mul_(power * upstream), x), numbers


def apply(x):
    return differentiable(forward, backward, (3,), ((x, None), [2.0, torch.tensor(0.0)]))


@pytest.fixture
def x():
    return torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)


def test_a_function_has_the_derivative_that_it_is_given(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):  # neither pass receives it
        cube, double = apply(x)
        for outputs, factor in ((cube, 1), (double, 2), (cube + double, 3)):
            for _ in range(2):
                (gradient,) = torch.autograd.grad(outputs.sum(), x, retain_graph=True)
                torch.testing.assert_close(gradient, 3 * factor * x.detach() ** 2)


def test_the_derivative_has_no_derivative(x):
    cube, _ = apply(x)
    with pytest.raises(RuntimeError, match="no derivative itself"):
        torch.autograd.grad(cube.sum(), x, create_graph=True)


def test_without_gradients_there_is_no_graph(x):
    with torch.no_grad():
        cube, _ = apply(x)
    assert not cube.requires_grad
    cube, _ = apply(x.detach())
    assert not cube.requires_grad


@pytest.mark.parametrize("encoder_class", ENCODERS)
def test_no_encoder_hands_out_a_gradient_without_its_graph(encoder_class):
    encoder = encoder_class(3, 4).eval()
    inputs = torch.randn(2, 5, 3, requires_grad=True)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])

    def sums(x):
        return encoder(x, mask).sum(-1)

    with pytest.raises(RuntimeError, match=r"use_backend\(\"naive\"\)"):
        torch.autograd.grad(sums(inputs).sum(), inputs, create_graph=True)
    # torch 1.12 refuses vectorized gradients by itself, with messages of its own.
    refusal = r"use_backend\(\"naive\"\)" if torch.__version__ >= "2" else ""
    with pytest.raises(RuntimeError, match=refusal):
        jacobian(sums, inputs, vectorize=True)
    with use_backend("naive"), torch.backends.mkldnn.flags(enabled=False):
        jacobian(sums, inputs, vectorize=True)
        (gradient,) = torch.autograd.grad(sums(inputs).sum(), inputs, create_graph=True)
    gradient.square().sum().backward()
    for name, parameter in encoder.named_parameters():
        if "weight_hh" in name:
            assert parameter.grad is not None
