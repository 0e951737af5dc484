"""RCRN against the paper's equations, read one token at a time."""

import pytest
import torch

from allennlp_sentmatch.nn import RecurrentlyControlledRNN
from allennlp_sentmatch.nn.ops.backends import use_backend

CELLS = ["lstm", "gru"]
GATES = ["sigmoid", "identity"]


@pytest.fixture(params=[None, "naive"], ids=["default", "naive"])
def backend(request):
    """The default and the naive backend."""
    with use_backend(request.param):
        yield


def lstm_states(network, x, suffix):
    """Equations 1-6 and 10-14 in one direction: the hidden states of tokens x, [(H)]."""
    W, U = getattr(network, "weight_ih_l0" + suffix), getattr(network, "weight_hh_l0" + suffix)
    b = getattr(network, "bias_ih_l0" + suffix) + getattr(network, "bias_hh_l0" + suffix)
    H = U.size(1)
    h = c = x.new_zeros(H)
    states = []
    for x_t in x:
        gates = W @ x_t + U @ h + b
        i, f, o = (torch.sigmoid(gates[k * H : (k + 1) * H]) for k in (0, 1, 3))
        c = f * c + i * torch.tanh(gates[2 * H : 3 * H])
        h = o * torch.tanh(c)
        states.append(h)
    return states


def gru_states(network, x, suffix):
    """The GRU of Cho et al. (2014) as torch has it, one token at a time."""
    W, U = getattr(network, "weight_ih_l0" + suffix), getattr(network, "weight_hh_l0" + suffix)
    b, d = getattr(network, "bias_ih_l0" + suffix), getattr(network, "bias_hh_l0" + suffix)
    H = U.size(1)
    h = x.new_zeros(H)
    states = []
    for x_t in x:
        a, u = W @ x_t + b, U @ h + d
        r = torch.sigmoid(a[:H] + u[:H])
        z = torch.sigmoid(a[H : 2 * H] + u[H : 2 * H])
        n = torch.tanh(a[2 * H :] + r * u[2 * H :])
        h = (1 - z) * n + z * h
        states.append(h)
    return states


def network_states(network, x, cell, bidirectional):
    """h^k of equations 7-9 and 14: a list of [forward; backward] states."""
    read = lstm_states if cell == "lstm" else gru_states
    states = read(network, x, "")
    if not bidirectional:
        return states
    backward = read(network, x.flip(0), "_reverse")[::-1]
    return [torch.cat(pair) for pair in zip(states, backward)]


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("output_gate", GATES)
def test_follows_the_equations(cell, bidirectional, output_gate):
    torch.manual_seed(0)
    encoder = RecurrentlyControlledRNN(3, 4, cell, bidirectional, output_gate).double()
    lengths = [5, 3, 1]
    inputs = torch.randn(3, 5, 3, dtype=torch.float64)
    mask = torch.arange(5) < torch.tensor(lengths).unsqueeze(1)
    outputs = encoder(inputs, mask)
    assert outputs.shape == (3, 5, encoder.output_size)
    assert encoder.output_size == (8 if bidirectional else 4)

    for sentence, length in enumerate(lengths):
        h1, h2, h3 = (
            network_states(network, inputs[sentence, :length], cell, bidirectional)
            for network in (encoder.forget_controller, encoder.output_controller, encoder.listener)
        )
        c4 = torch.zeros(encoder.output_size, dtype=torch.float64)
        for t in range(length):
            c4 = torch.sigmoid(h1[t]) * c4 + (1 - torch.sigmoid(h1[t])) * h3[t]  # (15)
            gate = torch.sigmoid(h2[t]) if output_gate == "sigmoid" else h2[t]
            torch.testing.assert_close(outputs[sentence, t], gate * c4, rtol=0, atol=1e-9)  # (16)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("output_gate", GATES)
def test_gradients(cell, output_gate):
    torch.manual_seed(1)
    encoder = RecurrentlyControlledRNN(2, 2, cell, output_gate=output_gate).double()
    inputs = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True, True, True], [True, True, False]])

    def run(inputs, *_):  # gradcheck moves the parameters themselves
        return encoder(inputs, mask)

    assert torch.autograd.gradcheck(run, (inputs, *encoder.parameters()))


def test_each_network_does_its_own_part():
    """A closed forget gate copies h3, an open one keeps c_0 = 0, and the output gate scales."""
    torch.manual_seed(2)
    encoder = RecurrentlyControlledRNN(3, 4, bidirectional=False).double()
    inputs = torch.randn(1, 4, 3, dtype=torch.float64)
    mask = torch.ones(1, 4, dtype=torch.bool)
    listened = encoder.listener(inputs)[0]
    with torch.no_grad():
        for controller in (encoder.forget_controller, encoder.output_controller):
            for parameter in controller.parameters():
                parameter.zero_()  # h1 = h2 = 0: both gates are a half
    c = torch.zeros(1, 4, dtype=torch.float64)
    for t in range(4):
        c = 0.5 * c + 0.5 * listened[:, t]
        torch.testing.assert_close(encoder(inputs, mask)[:, t], 0.5 * c, rtol=0, atol=1e-9)


@pytest.mark.parametrize("cell", CELLS)
def test_computes_in_single_precision_under_autocast_on_the_cpu(cell):
    torch.manual_seed(3)
    encoder = RecurrentlyControlledRNN(3, 4, cell)
    inputs, mask = torch.randn(2, 5, 3), torch.ones(2, 5, dtype=torch.bool)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs = encoder(inputs, mask)
    torch.testing.assert_close(outputs, encoder(inputs, mask), rtol=0, atol=1e-6)


def test_has_as_many_parameters_as_three_bidirectional_networks():
    encoder = RecurrentlyControlledRNN(300, 200)
    one = torch.nn.LSTM(300, 200, bidirectional=True)
    assert sum(p.numel() for p in encoder.parameters()) == 3 * sum(
        p.numel() for p in one.parameters()
    )
