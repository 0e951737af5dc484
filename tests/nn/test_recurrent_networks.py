"""torch's recurrent networks over padded batches, compared with single sentences."""

from functools import partial
from unittest import mock

import pytest
import torch
from torch.autograd import forward_ad

from allennlp_sentmatch.nn import recurrent_networks, use_backend
from allennlp_sentmatch.nn.ops.backends import resolve_network
from allennlp_sentmatch.nn.ops.common.execution import CAN_RECORD
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
        D,
        H,
        num_layers,
        batch_first=True,
        bidirectional=bidirectional,
        **settings,
    )
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter)
    return network.double()


def record_calls(name, monkeypatch):
    """Return a mock that records the later calls of a function of `recurrent_networks`."""
    record = mock.Mock(wraps=getattr(recurrent_networks, name))
    monkeypatch.setattr(recurrent_networks, name, record)
    return record


def outputs_of(network, inputs, mask):
    (outputs,) = run_networks([network], inputs, mask)
    return outputs


@KINDS
@LAYERS
@DIRECTIONS
@pytest.mark.parametrize("lengths", [LENGTHS, [6, 6]], ids=str)
@pytest.mark.parametrize("backend", [*BACKENDS, "scan, own", "naive, packed"], indirect=True)
def test_each_sentence_is_read_as_if_alone(kind, num_layers, bidirectional, lengths, backend):
    network = make(kind, num_layers, bidirectional, bias=num_layers > 1)
    inputs, mask = batch(lengths, 6)
    spoiled = inputs.masked_fill(~mask.unsqueeze(-1), float("nan")).requires_grad_()
    outputs = outputs_of(network, spoiled, mask)
    expected_loss = torch.zeros((), dtype=torch.float64)
    for row, length in enumerate(lengths):
        assert not outputs[row, length:].any()
        if length:
            (expected,), _ = network(inputs[row : row + 1, :length])
            torch.testing.assert_close(outputs[row, :length], expected, atol=1e-12, rtol=1e-12)
            expected_loss = expected_loss + expected.square().sum()
    parameters = list(network.parameters())
    loss = outputs.square().sum()
    of_inputs, *of_parameters = torch.autograd.grad(loss, [spoiled, *parameters])
    expected_of_parameters = list(torch.autograd.grad(expected_loss, parameters))
    torch.testing.assert_close(of_parameters, expected_of_parameters, atol=1e-9, rtol=1e-9)
    assert not of_inputs[~mask].any()


@KINDS
@pytest.mark.parametrize("num_layers", [1, 2])
@every_backend
def test_dropout_is_between_the_layers_and_in_training_only(kind, num_layers, backend):
    inputs, mask = batch(LENGTHS, 6)
    network = make(kind, num_layers)
    expected = outputs_of(network, inputs, mask)
    network.dropout = 0.5
    dropped = outputs_of(network, inputs, mask)
    assert torch.allclose(dropped, expected) == (num_layers == 1)
    torch.testing.assert_close(outputs_of(network.eval(), inputs, mask), expected)


@every_backend
def test_last_states_are_not_dropped(backend):
    inputs, mask = batch(LENGTHS, 6)
    network = make(torch.nn.LSTM, num_layers=2)
    network.dropout = 0.5
    dropped, last, _ = lstm_final_states(network, inputs, mask)
    expected, expected_last, _ = lstm_final_states(network.eval(), inputs, mask)
    torch.testing.assert_close(last[:, 0], expected_last[:, 0])
    assert not torch.allclose(dropped, expected)


@KINDS
@pytest.mark.parametrize("hidden_size", [H, 256])
@pytest.mark.parametrize(
    ("lengths", "is_packed"),
    [
        ([20, 1, 0, 3], True),
        ([20, 20, 19, 20], False),
    ],
)
@pytest.mark.parametrize("backend", ["naive"], indirect=True)
def test_padding_is_packed_away_only_without_gradients(
    kind, hidden_size, lengths, is_packed, backend, monkeypatch
):
    """A batch of mostly padding is packed; one of mostly tokens, and one in training, are not."""
    packed = record_calls("_run_packed", monkeypatch)
    network = kind(D, hidden_size, batch_first=True, bidirectional=True)
    inputs, mask = batch(lengths, 20)
    inputs = inputs.float()
    expected = outputs_of(network, inputs, mask)
    assert not packed.called
    with torch.no_grad():
        outputs = outputs_of(network, inputs, mask)
    torch.testing.assert_close(outputs, expected, atol=1e-5, rtol=0)
    assert packed.called == is_packed


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
def test_the_compiled_steps_run_if_they_are_faster(
    kind, products, lengths, trained, backend, expected, monkeypatch
):
    name = "gru_recurrence" if kind is torch.nn.GRU else "lstm_recurrence"
    compiled = record_calls(name, monkeypatch)
    monkeypatch.setattr("allennlp_sentmatch.nn.ops.backends.fastest_products", lambda: products)
    network = make(kind).float()
    inputs, mask = batch(lengths, 6)
    with torch.set_grad_enabled(trained), use_backend(backend):
        run_networks([network], inputs.float(), mask)
    assert compiled.called == expected


@pytest.mark.parametrize("form", ["own", "packed"])
@pytest.mark.parametrize(
    ("bidirectional", "started"),
    [
        (False, False),
        (False, True),
        (True, False),
    ],
)
def test_last_states_are_torch_s(bidirectional, started, form, monkeypatch):
    """The batch is padded as on a CPU, or packed as on a GPU."""
    monkeypatch.setattr(recurrent_networks, "resolve_network", lambda *_: form)
    lstm = make(torch.nn.LSTM, 3, bidirectional)
    inputs, mask = batch(LENGTHS, 6)
    states = torch.randn(
        2,
        len(LENGTHS),
        3,
        H * (1 + bidirectional),
        dtype=torch.float64,
    )
    if not started:
        states.zero_()
    spoiled = inputs.masked_fill(~mask.unsqueeze(-1), float("nan"))
    initial = tuple(states) if started else None
    outputs, hidden, cell = lstm_final_states(lstm, spoiled, mask, initial)
    assert not outputs[~mask].any()
    for row, length in enumerate(LENGTHS):
        before_h, before_c = states[:, row]
        if length == 0:
            assert torch.equal(hidden[row], before_h)
            assert torch.equal(cell[row], before_c)
            continue
        # torch has the shape (layers * directions, 1, H).
        start = (before_h.reshape(-1, 1, H), before_c.reshape(-1, 1, H))
        (expected,), (last_h, last_c) = lstm(inputs[row : row + 1, :length], start)
        torch.testing.assert_close(outputs[row, :length], expected)
        torch.testing.assert_close(hidden[row], last_h.reshape(3, -1))
        torch.testing.assert_close(cell[row], last_c.reshape(3, -1))


@pytest.mark.parametrize("lengths", [[6, 6], [6, 1, 1]])
def test_a_hook_that_looks_changes_no_decision(lengths):
    """AllenNLP's trainer hooks every module in the first batch, also after a recovery."""
    network = make(torch.nn.LSTM).float()
    inputs, mask = batch(lengths, 6)
    before = resolve_network(network, inputs.float(), mask)
    assert before != "packed"
    network.register_forward_hook(lambda *_: None)
    assert resolve_network(network, inputs.float(), mask) == before


class Negative(torch.nn.LSTM):
    """An LSTM whose outputs have the opposite sign."""

    def forward(self, inputs, initial=None):
        outputs, last = super().forward(inputs, initial)
        if isinstance(outputs, torch.nn.utils.rnn.PackedSequence):
            return outputs._replace(data=-outputs.data), last
        return -outputs, last


@pytest.mark.parametrize("grad", [False, True])
def test_a_class_with_its_own_forward_is_called(grad):
    own = Negative(D, H, batch_first=True).double()
    torch_s = torch.nn.LSTM(D, H, batch_first=True).double()
    torch_s.load_state_dict(own.state_dict())
    inputs, mask = batch(LENGTHS, 6)
    with torch.set_grad_enabled(grad):
        (expected,) = run_networks([torch_s], inputs, mask)
        (outputs,) = run_networks([own], inputs, mask)
        last_outputs, *_ = lstm_final_states(own, inputs, mask)
    torch.testing.assert_close(outputs, -expected)
    torch.testing.assert_close(last_outputs, -expected)


class Echo(torch.nn.LSTM):
    """A network whose outputs are its inputs."""

    def forward(self, inputs, initial=None):
        return inputs, None


def test_a_class_with_its_own_forward_is_called_within_transforms():
    network = Echo(D, D, batch_first=True).double()
    inputs, mask = batch([6, 6], 6)
    with forward_ad.dual_level():
        outputs = outputs_of(network, forward_ad.make_dual(inputs, 2 * inputs), mask)
        value, derivative = forward_ad.unpack_dual(outputs)
    torch.testing.assert_close(value, inputs)
    torch.testing.assert_close(derivative, 2 * inputs)


@pytest.mark.skipif(not CAN_RECORD, reason="this torch cannot export loops")
def test_a_class_with_its_own_forward_is_exported():
    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = Echo(D, D, batch_first=True).double()

        def forward(self, inputs):
            return outputs_of(self.network, inputs, None)

    inputs, _ = batch([6, 6], 6)
    with torch.no_grad():
        exported = torch.export.export(Encoder(), (inputs,))
    torch.testing.assert_close(exported.module()(inputs), inputs)


@KINDS
@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("lengths", [LENGTHS, [6, 6]], ids=str)
def test_a_parametrized_network_has_the_weights_of_its_parametrization(kind, lengths, grad):
    """Parametrization makes a class of the network, which has torch's `forward`."""

    class Half(torch.nn.Module):
        def forward(self, weight):
            return weight / 2

    network = make(kind)
    halved = make(kind)
    inputs, mask = batch(lengths, 6)
    torch.nn.utils.parametrize.register_parametrization(network, "weight_hh_l0", Half())
    with torch.no_grad():
        halved.weight_hh_l0.div_(2)
    with torch.set_grad_enabled(grad):
        torch.testing.assert_close(
            outputs_of(network, inputs, mask), outputs_of(halved, inputs, mask)
        )
