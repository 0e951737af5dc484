"""LSTM and CAS-LSTM by any backend; test_every_recurrence.py compares the backends."""

from types import SimpleNamespace

import pytest
import torch

from allennlp_sentmatch.nn import CellAwareLSTM
from allennlp_sentmatch.nn.ops.backends import use_backend
from allennlp_sentmatch.nn.ops.cas_lstm import layer
from allennlp_sentmatch.nn.ops.cas_lstm.naive import LayerStack
from allennlp_sentmatch.nn.ops.cas_lstm.recurrence import lstm_recurrence
from tests.nn import equations
from tests.nn.ops.conftest import BACKENDS, record_products, run_by

D = 5
H = 3


def build(dtype=torch.float64, **settings):
    torch.manual_seed(0)
    encoder = CellAwareLSTM(D, H, **settings).to(dtype)
    for parameter in encoder.parameters():  # lambda's logits too: no symmetry left
        torch.nn.init.uniform_(parameter, -1, 1)
    return encoder


def batch(lengths, dtype=torch.float64):
    inputs, mask = equations.batch(lengths, max(lengths) + 1, D, padding=torch.nan)
    return inputs.to(dtype).requires_grad_(), mask


def outputs_and_gradients(encoder, inputs, mask):
    outputs = encoder(inputs, mask)
    torch.manual_seed(2)
    upstream = torch.randn(outputs.shape, dtype=torch.float64).to(outputs)
    return [outputs, *torch.autograd.grad(outputs, [inputs, *encoder.parameters()], upstream)]


@pytest.fixture(params=BACKENDS)
def backend(request):
    with run_by(request.param):
        yield request.param.partition(",")[0]


def test_initial_states_are_of_one_direction():
    encoder = build(bidirectional=True)
    inputs, mask = batch([2])
    layers = [[encoder.layer_weights(k, s) for s in ("", "_reverse")] for k in range(2)]
    with pytest.raises(ValueError, match="unidirectional stack"):
        lstm_recurrence(inputs, mask, LayerStack(layers), torch.zeros(2, 1, 2, 2 * H))


def test_dropout_lies_between_layers(monkeypatch):
    # Both draw, but for different arrangements of the same states.
    monkeypatch.setattr(
        torch.nn.functional, "dropout", lambda x, p, training: x * (1 - p) if training else x
    )
    encoder = build(num_layers=3, dropout=0.4)
    inputs, mask = batch([4, 2])
    results = []
    for name in (None, "naive"):
        with use_backend(name):
            dropped, whole = (
                outputs_and_gradients(encoder.train(training), inputs, mask)
                for training in (True, False)
            )
        results.append([*dropped, *whole])
        assert not torch.allclose(dropped[0], whole[0])
    torch.testing.assert_close(*results, rtol=0, atol=1e-9)


def test_a_backend_runs_its_own_steps(backend, monkeypatch):
    calls = []

    def recorded(name, function):
        return lambda *arguments: calls.append(name) or function(*arguments)

    for name, steps in layer.STEPS.items():
        forward = recorded(name, steps.forward)
        backward = recorded(name, steps.backward)
        recording = SimpleNamespace(forward=forward, backward=backward)
        monkeypatch.setitem(layer.STEPS, name, recording)
    encoder = build(num_layers=2)
    inputs, mask = batch([3, 2])
    encoder(inputs, mask).sum().backward()
    assert calls == [backend] * 4


def test_gates_and_reduced_precision_take_the_naive_form():
    encoder = build(torch.float32)
    inputs, mask = batch([3, 2], torch.float32)
    outputs, _ = encoder(inputs, mask, return_gates=True)
    with use_backend("naive"):
        torch.testing.assert_close(outputs, encoder(inputs, mask), rtol=0, atol=1e-6)
        narrow = encoder.bfloat16()(inputs.bfloat16(), mask)
    torch.testing.assert_close(encoder(inputs.bfloat16(), mask), narrow, rtol=0, atol=1e-6)


@pytest.mark.usefixtures("backend")
def test_steps_cost_no_more_than_the_sentences_still_being_read(monkeypatch):
    products = record_products(monkeypatch)
    inputs, mask = batch([6, 1, 3, 3])
    outputs = build(num_layers=1)(inputs, mask)
    every = sum([6, 1, 3, 3])  # W x
    assert [rows for rows, _ in products] == [every, 3, 3, 1, 1, 1]
    outputs.sum().backward()
    assert [rows for rows, _ in products][6:11] == [1, 1, 1, 3, 3]
