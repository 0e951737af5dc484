"""Behaviour that all recurrences share, whatever their backend."""

import pytest
import torch

from allennlp_sentmatch.nn import (
    LSTMN,
    CellAwareLSTM,
    GumbelTreeLSTM,
    StackedRNN,
    SuffixBiLSTM,
)
from allennlp_sentmatch.nn.ops.common.products import Products
from allennlp_sentmatch.nn.ops.subilstm import recurrence as suffix
from allennlp_sentmatch.nn.rnet import GatedMatching
from tests.nn.ops.conftest import NEEDS_COMPILED, run_by

D, H = 4, 3


class Matching(torch.nn.Module):
    """`GatedMatching` of sentences with themselves, as an encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.matching = GatedMatching(D, D, H)

    def forward(self, inputs, mask):
        return self.matching(inputs, mask, inputs, mask)[0]


ENCODERS = {
    "CellAwareLSTM": lambda: CellAwareLSTM(D, H, bidirectional=True),
    "LSTMN": lambda: LSTMN(D, H, bidirectional=True),
    "SuffixBiLSTM": lambda: SuffixBiLSTM(D, H),
    "GumbelTreeLSTM": lambda: GumbelTreeLSTM(D, H, leaf="affine"),
    "GatedMatching": Matching,
    "GRU": lambda: StackedRNN(D, H, cell="gru", bidirectional=True),
}
BACKENDS = {
    "CellAwareLSTM": ["eager", "cpu"],
    "SuffixBiLSTM": ["eager", "cpu"],
}

every_recurrence = pytest.mark.parametrize(
    ("name", "backend"),
    [
        pytest.param(name, backend, marks=NEEDS_COMPILED if backend == "cpu" else ())
        for name in ENCODERS
        if name != "GatedMatching"  # which is differentiated by autograd
        for backend in BACKENDS.get(name, ["cpu"])
    ],
)


def build(name):
    torch.manual_seed(0)
    return ENCODERS[name]().double()


def batch():
    inputs = torch.randn(3, 5, D, dtype=torch.float64)
    return inputs, torch.arange(5) < torch.tensor([5, 0, 3]).unsqueeze(1)


def gradients(encoder, inputs, mask):
    """The gradients of the inputs and of the parameters that are not frozen, by name."""
    torch.manual_seed(1)  # of the tree's choices
    names = {"inputs": inputs, **dict(encoder.named_parameters())}
    leaves = {name: x for name, x in names.items() if x.requires_grad}
    loss = encoder(inputs, mask).square().sum()
    grads = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
    return {name: grad for name, grad in zip(leaves, grads) if grad is not None}


@pytest.fixture
def weight_gradients(monkeypatch):
    """The shapes of the products that make the gradient of a matrix, in a list."""
    shapes = []
    product = Products.product_over_rows

    def recorded(x, y):
        shapes.append((x.size(1), y.size(1)))
        return product(x, y)

    monkeypatch.setattr(Products, "product_over_rows", recorded)
    return shapes


@every_recurrence
@pytest.mark.parametrize("max_saved_bytes", [0, suffix.MAX_SAVED_BYTES])
def test_a_frozen_parameter_costs_no_product(
    name, backend, max_saved_bytes, weight_gradients, monkeypatch
):
    monkeypatch.setattr(suffix, "MAX_SAVED_BYTES", max_saved_bytes)  # with 0, it recomputes tables
    encoder, (inputs, mask) = build(name), batch()
    inputs.requires_grad_()
    with run_by(backend):
        expected = gradients(encoder, inputs, mask)
        assert weight_gradients
        weight_gradients.clear()
        encoder.requires_grad_(False)
        actual = gradients(encoder, inputs, mask)
        assert weight_gradients == []
        assert list(actual) == ["inputs"]
        torch.testing.assert_close(actual["inputs"], expected["inputs"], rtol=0, atol=1e-12)
        for trained, parameter in encoder.named_parameters():
            parameter.requires_grad_()
            actual = gradients(encoder, inputs, mask)
            parameter.requires_grad_(False)
            torch.testing.assert_close(actual[trained], expected[trained], rtol=0, atol=1e-12)


@every_recurrence
@pytest.mark.parametrize("max_saved_bytes", [0, suffix.MAX_SAVED_BYTES])
def test_a_second_backward_pass_gives_the_same_gradients(
    name, backend, max_saved_bytes, monkeypatch
):
    monkeypatch.setattr(suffix, "MAX_SAVED_BYTES", max_saved_bytes)
    encoder, (inputs, mask) = build(name), batch()
    with run_by(backend):
        loss = encoder(inputs, mask).square().sum()
    leaves = [x for parameter, x in encoder.named_parameters() if parameter != "query"]
    first = torch.autograd.grad(loss, leaves, retain_graph=True)
    torch.testing.assert_close(torch.autograd.grad(loss, leaves), first, rtol=0, atol=1e-12)


@every_recurrence
@pytest.mark.parametrize("max_saved_bytes", [0, suffix.MAX_SAVED_BYTES])
def test_nothing_is_read_that_was_not_written(name, backend, max_saved_bytes, monkeypatch):
    monkeypatch.setattr(suffix, "MAX_SAVED_BYTES", max_saved_bytes)
    encoder, (inputs, mask) = build(name), batch()
    filled = []

    def fill(x):
        filled.append(x)
        return x.fill_(torch.nan if x.is_floating_point() else torch.iinfo(x.dtype).min)

    with run_by(backend):
        expected = gradients(encoder, inputs, mask)
        for owner, function in (
            (torch, "empty"),
            (torch, "empty_like"),
            (torch.Tensor, "new_empty"),
        ):
            original = getattr(owner, function)
            spoiled = lambda *a, f=original, **k: fill(f(*a, **k))  # noqa: E731
            monkeypatch.setattr(owner, function, spoiled)
        actual = gradients(encoder, inputs, mask)
    assert filled
    assert_same(actual, expected)


@pytest.mark.skipif(not hasattr(torch, "set_default_device"), reason="this torch has no such thing")
@every_recurrence
def test_tensors_are_made_on_the_device_of_the_inputs(name, backend):
    encoder, (inputs, mask) = build(name), batch()
    inputs.requires_grad_()
    with run_by(backend):
        for training in (True, False):
            encoder.train(training)
            expected = gradients(encoder, inputs, mask)
            with torch.device("meta"):  # the default one
                actual = gradients(encoder, inputs, mask)
            assert_same(actual, expected)


@pytest.mark.parametrize("name", ["CellAwareLSTM", "LSTMN", "GumbelTreeLSTM", "GatedMatching"])
def test_a_batch_of_no_steps_has_a_graph_and_the_parameters_precision(name):
    encoder = build(name)
    inputs, mask = torch.zeros(2, 0, D), torch.zeros(2, 0, dtype=torch.bool)
    for precision in (torch.float64, torch.float32):
        encoder.to(precision)
        with torch.autocast("cpu", torch.bfloat16):
            outputs = encoder(inputs, mask)
        assert outputs.dtype == precision
        outputs.sum().backward()
        grads = [x.grad for x in encoder.parameters() if x.grad is not None]
        assert grads
        assert not any(grad.any() for grad in grads)


def assert_same(actual, expected):
    assert list(actual) == list(expected)
    for name, value in expected.items():
        torch.testing.assert_close(actual[name], value, rtol=0, atol=1e-12)


@pytest.mark.skipif(
    not hasattr(torch, "amp") or not hasattr(torch.amp, "custom_fwd"),
    reason="torch 2.4 is the first that can",
)
# The steps of SuBiLSTM depend on the lengths, which the compiler does not know. torch runs GRUs
# there, which the compiler does not record.
@pytest.mark.parametrize("name", [x for x in ENCODERS if x not in ("SuffixBiLSTM", "GRU")])
def test_torch_compile_records_one_graph(name):
    encoder, (inputs, mask) = build(name).eval(), batch()
    torch._dynamo.reset()
    compiled = torch.compile(encoder, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(inputs, mask), encoder(inputs, mask), rtol=0, atol=1e-12)
