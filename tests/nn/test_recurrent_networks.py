"""torch's recurrent networks over padded batches, compared with single sentences."""

from functools import partial

import pytest
import torch

from allennlp_sentmatch.nn import recurrent_networks, use_backend
from allennlp_sentmatch.nn.ops.backends import resolve_network
from allennlp_sentmatch.nn.ops.common.products import HAS_ONEDNN, MKLProducts, OneDNNProducts
from allennlp_sentmatch.nn.recurrent_networks import lstm_final_states, run_networks
from tests.nn import equations
from tests.nn.ops.conftest import NEEDS_COMPILED

D = 3
H = 4
LENGTHS = [5, 1, 0, 3]
batch = partial(equations.batch, size=D)

KINDS = pytest.mark.parametrize("kind", [torch.nn.GRU, torch.nn.LSTM])
LAYERS = pytest.mark.parametrize("num_layers", [1, 3])
DIRECTIONS = pytest.mark.parametrize("bidirectional", [False, True])
# : Only "naive" leaves torch's networks to torch.
BACKENDS = ["naive", "naive, own", pytest.param("cpu, own", marks=NEEDS_COMPILED)]
every_backend = pytest.mark.parametrize("backend", BACKENDS, indirect=True)


@pytest.fixture
def backend(request, monkeypatch):
    name, _, form = request.param.partition(", ")
    if form:  # even if another one would be faster
        monkeypatch.setattr(recurrent_networks, "resolve_network", lambda *_: form)
    with use_backend(name):
        yield name


def make(kind, num_layers: int = 1, bidirectional: bool = True, **settings):
    torch.manual_seed(0)
    network = kind(
        D, H, num_layers, batch_first=True, bidirectional=bidirectional, **settings
    ).double()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter)
    return network


def record_calls(name, monkeypatch):
    """A list with an item for each later call of a function of `recurrent_networks`."""
    calls = []
    function = getattr(recurrent_networks, name)

    def record(*arguments):
        calls.append(name)
        return function(*arguments)

    monkeypatch.setattr(recurrent_networks, name, record)
    return calls


@KINDS
@LAYERS
@DIRECTIONS
@pytest.mark.parametrize("lengths", [LENGTHS, [6, 6]], ids=str)
@pytest.mark.parametrize("backend", [*BACKENDS, "scan, own", "naive, packed"], indirect=True)
def test_each_sentence_is_read_as_if_alone(kind, num_layers, bidirectional, lengths, backend):
    network = make(kind, num_layers, bidirectional, bias=num_layers > 1)
    inputs, mask = batch(lengths, 6)
    spoiled = inputs.masked_fill(~mask.unsqueeze(-1), float("nan")).requires_grad_()
    (outputs,) = run_networks([network], spoiled, mask)
    sums = torch.zeros((), dtype=torch.float64)
    for row, length in enumerate(lengths):
        assert not outputs[row, length:].any()
        if length:
            expected, _ = network(inputs[row : row + 1, :length])
            torch.testing.assert_close(outputs[row, :length], expected[0], atol=1e-12, rtol=1e-12)
            sums = sums + expected.square().sum()
    variables = list(network.parameters())
    actual = torch.autograd.grad(outputs.square().sum(), [spoiled, *variables])
    torch.testing.assert_close(
        list(actual[1:]), list(torch.autograd.grad(sums, variables)), atol=1e-9, rtol=1e-9
    )
    assert not actual[0][~mask].any()


@KINDS
@every_backend
def test_dropout_is_between_the_layers_and_in_training_only(kind, backend):
    inputs, mask = batch(LENGTHS, 6)
    for num_layers in (1, 2):
        network = make(kind, num_layers)
        (expected,) = run_networks([network], inputs, mask)
        network.dropout = 0.5
        (dropped,) = run_networks([network], inputs, mask)
        assert torch.allclose(dropped, expected) == (num_layers == 1)
        torch.testing.assert_close(run_networks([network.eval()], inputs, mask)[0], expected)
        network.train()
    if kind is torch.nn.LSTM:
        dropped, last, _ = lstm_final_states(network, inputs, mask)
        expected, expected_last, _ = lstm_final_states(network.eval(), inputs, mask)
        torch.testing.assert_close(last[:, 0], expected_last[:, 0])
        assert not torch.allclose(dropped, expected)


@KINDS
@pytest.mark.parametrize("hidden_size", [H, 256])
@pytest.mark.parametrize("backend", ["naive"], indirect=True)
def test_padding_is_packed_away_without_gradients_alone(kind, hidden_size, backend, monkeypatch):
    """A batch of mostly padding is packed; one of mostly tokens, and one in training, are not."""
    packed = record_calls("_run_packed", monkeypatch)
    network = kind(D, hidden_size, batch_first=True, bidirectional=True)
    for lengths, saves in [([20, 1, 0, 3], True), ([20, 20, 19, 20], False)]:
        inputs, mask = batch(lengths, 20)
        inputs = inputs.float()
        (expected,) = run_networks([network], inputs, mask)
        assert not packed
        with torch.no_grad():
            (outputs,) = run_networks([network], inputs, mask)
        torch.testing.assert_close(outputs, expected, atol=1e-5, rtol=0)
        assert bool(packed) == saves
        packed.clear()


@NEEDS_COMPILED
@pytest.mark.skipif(not HAS_ONEDNN, reason="this torch has no oneDNN product")
@pytest.mark.parametrize(
    ("kind", "products", "lengths", "trained", "backend", "expected"),
    [
        (torch.nn.GRU, MKLProducts, LENGTHS, True, None, True),
        (torch.nn.GRU, MKLProducts, [6, 6], True, None, True),
        (torch.nn.GRU, OneDNNProducts, LENGTHS, True, None, True),
        (torch.nn.GRU, OneDNNProducts, LENGTHS, False, None, False),
        (torch.nn.GRU, MKLProducts, LENGTHS, True, "eager", False),
        (torch.nn.LSTM, MKLProducts, LENGTHS, True, None, True),
        (torch.nn.LSTM, MKLProducts, [6, 4], True, None, True),
        (torch.nn.LSTM, MKLProducts, [6, 5], True, None, False),
        (torch.nn.LSTM, OneDNNProducts, LENGTHS, True, None, False),
        (torch.nn.LSTM, MKLProducts, LENGTHS, False, None, False),
        (torch.nn.LSTM, MKLProducts, LENGTHS, True, "naive", False),
    ],
)
def test_the_compiled_steps_run_where_they_are_faster(
    kind, products, lengths, trained, backend, expected, monkeypatch
):
    name = "gru_recurrence" if kind is torch.nn.GRU else "lstm_recurrence"
    compiled = record_calls(name, monkeypatch)
    monkeypatch.setattr("allennlp_sentmatch.nn.ops.backends.fastest_products", lambda: products)
    network = make(kind).float()
    inputs, mask = batch(lengths, 6)
    with torch.set_grad_enabled(trained), use_backend(backend):
        run_networks([network], inputs.float(), mask)
    assert bool(compiled) == expected


@pytest.mark.parametrize("form", ["own", "packed"])
@pytest.mark.parametrize(
    ("bidirectional", "started"), [(False, False), (False, True), (True, False)]
)
def test_last_states_are_torch_s(bidirectional, started, form, monkeypatch):
    """The batch is padded as on a CPU, or packed as on a GPU."""
    monkeypatch.setattr(recurrent_networks, "resolve_network", lambda *_: form)
    lstm = make(torch.nn.LSTM, 3, bidirectional)
    inputs, mask = batch(LENGTHS, 6)
    states = torch.randn(2, len(LENGTHS), 3, H * (1 + bidirectional), dtype=torch.float64)
    if not started:
        states.zero_()
    spoiled = inputs.masked_fill(~mask.unsqueeze(-1), float("nan"))
    outputs, *last = lstm_final_states(lstm, spoiled, mask, tuple(states) if started else None)
    assert not outputs[~mask].any()
    for row, length in enumerate(LENGTHS):
        if not length:
            assert torch.equal(torch.stack([x[row] for x in last]), states[:, row])
            continue
        before = states[:, row].reshape(2, -1, 1, H)  # (layers * directions, 1, H) each
        expected, expected_last = lstm(inputs[row : row + 1, :length], (before[0], before[1]))
        torch.testing.assert_close(outputs[row, :length], expected[0])
        for actual, of_each in zip(last, expected_last):
            torch.testing.assert_close(actual[row], of_each[:, 0].reshape(3, -1))


@pytest.mark.parametrize("lengths", [[6, 6], [6, 1, 1]])
def test_a_hook_that_looks_changes_no_decision(lengths):
    """AllenNLP's trainer hooks every module in the first batch, also after a recovery."""
    network = make(torch.nn.LSTM).float()
    inputs, mask = batch(lengths, 6)
    before = resolve_network(network, inputs.float(), mask)
    network.register_forward_hook(lambda *_: None)
    assert resolve_network(network, inputs.float(), mask) == before != "packed"
