"""The backends of all recurrences against the naive form, and their common properties."""

from functools import cache, partial

import pytest
import torch

from allennlp_sentmatch.nn import (
    LSTMN,
    CellAwareLSTM,
    GumbelTreeLSTM,
    StackedRNN,
    SuffixBiLSTM,
    gumbel_softmax,
)
from allennlp_sentmatch.nn.ops.cas_lstm.naive import LayerStack
from allennlp_sentmatch.nn.ops.cas_lstm.recurrence import final_states, lstm_recurrence
from allennlp_sentmatch.nn.ops.common.products import Products
from allennlp_sentmatch.nn.rnet import GatedMatching
from tests.nn import equations
from tests.nn.ops.conftest import CPU_BACKENDS, run_by

D = 3
H = 19  # not a multiple of a vector's width


class Matching(torch.nn.Module):
    """`GatedMatching` of sentences with themselves, as an encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.matching = GatedMatching(D, D, H)

    def forward(self, inputs, mask):
        return self.matching(inputs, mask, inputs, mask)[0]


class Started(torch.nn.Module):
    """An LSTMN with a given initial state."""

    def __init__(self, bidirectional) -> None:
        super().__init__()
        self.lstmn = LSTMN(D, H, 35, bidirectional)
        self.start = torch.nn.Parameter(torch.empty(2, 1, self.lstmn.output_size))

    def forward(self, inputs, mask):
        return self.lstmn.read(inputs, mask, tuple(self.start.expand(-1, len(inputs), -1)))


class GivenTrees(torch.nn.Module):
    """The roots of given trees."""

    def __init__(self) -> None:
        super().__init__()
        self.tree = GumbelTreeLSTM(D, H, "affine")

    def forward(self, inputs, mask):
        steps = torch.arange(mask.size(1) - 1, device=mask.device)
        numbers = mask.sum(1, keepdim=True) - 1 - steps  # of pairs, at each step of a sentence
        generator = torch.Generator().manual_seed(0)
        positions = torch.rand(numbers.shape, generator=generator, device=mask.device)
        return self.tree.compose(inputs, mask, (positions * numbers).long())[:2]


CAS_LSTM = partial(CellAwareLSTM, D, H, num_layers=3)


class StartedLSTM(torch.nn.Module):
    """The outputs and last states of a CAS-LSTM with given initial states."""

    def __init__(self, **settings) -> None:
        super().__init__()
        self.encoder = CAS_LSTM(**settings)
        self.start = torch.nn.Parameter(torch.empty(2, 1, 3, H))

    def forward(self, inputs, mask):
        layers = LayerStack([[self.encoder.layer_weights(layer)] for layer in range(3)])
        factors = torch.linspace(
            1,
            2,
            len(inputs),
            dtype=inputs.dtype,
            device=inputs.device,
        )
        initial = tuple(self.start * factors.view(-1, 1, 1))
        states = lstm_recurrence(inputs, mask, layers, initial)
        return (states[-1].hidden, *final_states(states, mask, 1, initial))


ENCODERS = {
    "CellAwareLSTM": partial(CAS_LSTM, bidirectional=True, vertical_weight=0.3),
    "CellAwareLSTM, trainable": partial(CAS_LSTM, bidirectional=True, vertical_weight="trainable"),
    "CellAwareLSTM, no lambda": partial(CAS_LSTM, vertical_weight=None),
    "CellAwareLSTM, peephole": partial(CAS_LSTM, bidirectional=True, vertical_gate="peephole"),
    "CellAwareLSTM, started": partial(StartedLSTM, vertical_weight=0.3),
    "CellAwareLSTM, started, peephole": partial(StartedLSTM, vertical_gate="peephole"),
    "LSTMN": partial(LSTMN, D, H, 35, bidirectional=True),
    "LSTMN, started": partial(Started, bidirectional=False),
    "LSTMN, started, bidirectional": partial(Started, bidirectional=True),
    "SuffixBiLSTM": partial(SuffixBiLSTM, D, H),
    "SuffixBiLSTM, context of 2": partial(SuffixBiLSTM, D, H, tied=False, max_context=2),
    "SuffixBiLSTM, GRU": partial(SuffixBiLSTM, D, H, cell="gru"),
    "SuffixBiLSTM, GRU, untied": partial(SuffixBiLSTM, D, H, False, max_context=3, cell="gru"),
    "GumbelTreeLSTM": partial(GumbelTreeLSTM, D, H, "affine", temperature=0.4),
    "GumbelTreeLSTM, greedy": partial(GumbelTreeLSTM, D, H, "affine"),
    "GumbelTreeLSTM, given": GivenTrees,
    "GRU": partial(StackedRNN, D, H, cell="gru", bidirectional=True),
}
EAGER = {
    "CellAwareLSTM": ["eager"],
    "SuffixBiLSTM": ["eager", "eager, in chunks", "cpu, in chunks"],
}
CASES = [
    pytest.param(name, *getattr(backend, "values", [backend]), marks=getattr(backend, "marks", ()))
    for name in ENCODERS
    for backend in ([*CPU_BACKENDS, *EAGER.get(name.partition(",")[0], [])])
]
every_recurrence = pytest.mark.parametrize(("name", "backend"), CASES)
IN_ONE_PIECE = [case for case in CASES if case.values[1] in ("cpu", "eager")]
every_recurrence_in_one_piece = pytest.mark.parametrize(("name", "backend"), IN_ONE_PIECE)
"""By one thread and without chunks, for what neither of them changes."""
LENGTHS = [(5, 2, 0, 4, 5, 1, 3), (4, 4, 4), (1,), (0, 0)]


def build(name):
    torch.manual_seed(0)
    encoder = Matching() if name == "GatedMatching" else ENCODERS[name]()
    for parameter in encoder.parameters():  # far from even: no symmetry is left
        torch.nn.init.normal_(parameter, std=0.5)
    return encoder.double().train(not name.endswith("greedy"))


def batch(lengths=(4, 0, 2)):
    return equations.batch(lengths, max(lengths) + 1, D, padding=torch.nan)


def outputs_of(encoder, inputs, mask):
    """All outputs that can have gradients."""
    torch.manual_seed(2)  # the tree's choices have none
    if isinstance(encoder, CellAwareLSTM):
        return [*encoder.last_states(inputs, mask)]
    if isinstance(encoder, GumbelTreeLSTM):
        return [*encoder.compose(inputs, mask)[:2]]
    outputs = encoder.read(inputs, mask) if isinstance(encoder, LSTMN) else encoder(inputs, mask)
    if isinstance(outputs, torch.Tensor):
        return [outputs]
    return [y for x in outputs for y in (x if isinstance(x, tuple) else (x,))]


def gradients(encoder, inputs, mask):
    """The gradients of the inputs and of the parameters that are not frozen, by name."""
    names = {"inputs": inputs, **dict(encoder.named_parameters())}
    leaves = {name: x for name, x in names.items() if x.requires_grad}
    loss = sum(x.square().sum() for x in outputs_of(encoder, inputs, mask))
    grads = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
    return {name: grad for name, grad in zip(leaves, grads) if grad is not None}


def values_and_gradients(name, backend, lengths):
    """Return the outputs, and the gradients of all of them together and of each alone."""
    encoder = build(name)
    inputs, mask = batch(lengths)
    leaves = [inputs.requires_grad_(), *encoder.parameters()]
    with run_by(backend):
        outputs = outputs_of(encoder, inputs, mask)
        with torch.no_grad():
            evaluated = outputs_of(encoder, inputs, mask)
    torch.testing.assert_close(evaluated, outputs, rtol=0, atol=1e-12)
    results = {f"output {i}": x.detach() for i, x in enumerate(outputs)}
    no_loss = 0 * leaves[-1].sum()  # an output need not depend on it
    losses = []
    for x in outputs:
        weights = torch.linspace(-1, 2, x.numel()).view_as(x)
        losses.append(no_loss + (x * weights).sum())
    losses.append(sum(losses))
    for number, loss in enumerate(losses):  # through one graph
        grads = torch.autograd.grad(
            loss,
            leaves,
            retain_graph=True,
            allow_unused=True,
        )
        for i, (x, grad) in enumerate(zip(leaves, grads)):
            results[f"gradient {i} of {number}"] = torch.zeros_like(x) if grad is None else grad
    return results


naive_values_and_gradients = cache(partial(values_and_gradients, backend="naive"))


@every_recurrence
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_values_and_gradients_are_those_of_the_naive_form(name, backend, lengths):
    actual = values_and_gradients(name, backend, lengths)
    expected = naive_values_and_gradients(name=name, lengths=lengths)
    assert_same(actual, expected, 1e-9)


def all_results(encoder, inputs, mask):
    """Return the outputs and the gradients by their names."""
    results = dict(enumerate(outputs_of(encoder, inputs, mask)))
    results.update(gradients(encoder, inputs, mask))
    return results


@every_recurrence
def test_single_precision(name, backend, monkeypatch):
    def gumbel_noise(logits, draw=gumbel_softmax.gumbel_noise):  # the same in both precisions
        return draw(logits.double()).to(logits.dtype)

    monkeypatch.setattr(gumbel_softmax, "gumbel_noise", gumbel_noise)
    encoder = build(name)
    inputs, mask = batch(LENGTHS[0])
    with run_by("naive"):
        expected = all_results(encoder, inputs.requires_grad_(), mask)
    inputs = inputs.detach().float().requires_grad_()
    with run_by(backend):
        actual = all_results(encoder.float(), inputs, mask)
    for key, value in expected.items():
        assert actual[key].dtype == torch.float32
        error = (actual[key] - value).norm() / value.norm().clamp(min=1)
        assert error < 2e-5, key


@pytest.fixture
def weight_gradients(monkeypatch):
    """A list of the shapes of products that compute a matrix's gradient."""
    shapes = []
    product = Products.product_over_rows

    def recorded(x, y):
        shapes.append((x.size(1), y.size(1)))
        return product(x, y)

    monkeypatch.setattr(Products, "product_over_rows", recorded)
    return shapes


@every_recurrence_in_one_piece
def test_a_frozen_parameter_costs_no_product(name, backend, weight_gradients):
    encoder = build(name)
    inputs, mask = batch()
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
            if trained in expected:  # all but the query of a greedy tree
                torch.testing.assert_close(actual[trained], expected[trained], rtol=0, atol=1e-12)


class Spoiled:
    """A function of torch that allocates; the tensor is filled with numbers that show up."""

    def __init__(self, function):
        self.function = function
        self.is_called = False

    def __call__(self, *arguments, **settings):
        self.is_called = True
        made = self.function(*arguments, **settings)
        return made.fill_(torch.nan if made.is_floating_point() else torch.iinfo(made.dtype).min)


@every_recurrence
def test_nothing_is_read_that_was_not_written(name, backend, monkeypatch):
    encoder = build(name)
    inputs, mask = batch()
    empty = Spoiled(torch.empty)
    empty_like = Spoiled(torch.empty_like)
    original_new_empty = torch.Tensor.new_empty
    new_empty = Spoiled(original_new_empty)
    with run_by(backend):
        expected = gradients(encoder, inputs, mask)
        monkeypatch.setattr(torch, "empty", empty)
        monkeypatch.setattr(torch, "empty_like", empty_like)
        monkeypatch.setattr(torch.Tensor, "new_empty", lambda *a, **k: new_empty(*a, **k))
        actual = gradients(encoder, inputs, mask)
    assert empty.is_called or empty_like.is_called or new_empty.is_called
    assert_same(actual, expected)


@pytest.mark.skipif(not hasattr(torch, "set_default_device"), reason="this torch has no such thing")
@every_recurrence_in_one_piece
def test_tensors_are_made_on_the_device_of_the_inputs(name, backend):
    encoder = build(name)
    inputs, mask = batch()
    inputs.requires_grad_()
    with run_by(backend):
        expected = gradients(encoder, inputs, mask)
        with torch.device("meta"):  # the default one
            actual = gradients(encoder, inputs, mask)
    assert_same(actual, expected)


def assert_same(actual, expected, tolerance=1e-12):
    assert list(actual) == list(expected)
    for name, value in expected.items():
        torch.testing.assert_close(
            actual[name],
            value,
            rtol=0,
            atol=tolerance,
            msg=lambda text, name=name: name + text,
        )


@pytest.mark.skipif(
    not hasattr(torch, "amp") or not hasattr(torch.amp, "custom_fwd"),
    reason="torch 2.4 is the first that can",
)
# torch runs GRUs there, which the compiler does not record.
@pytest.mark.parametrize(
    "name", ["CellAwareLSTM", "LSTMN", "SuffixBiLSTM", "GumbelTreeLSTM", "GatedMatching"]
)
def test_torch_compile_records_one_graph(name):
    encoder = build(name).eval()
    inputs, mask = batch(lengths=(2, 0))  # the compiler records each step
    torch._dynamo.reset()
    compiled = torch.compile(encoder, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(inputs, mask), encoder(inputs, mask), rtol=0, atol=1e-12)
