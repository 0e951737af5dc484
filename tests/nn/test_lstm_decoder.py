import pytest
import torch
from torch import nn

from allennlp_sentmatch.nn import DecoderState, LSTMDecoder


def make(seed=0, **settings):
    torch.manual_seed(seed)
    decoder = LSTMDecoder(3, 5, **settings).double()
    state = DecoderState(*torch.randn(2, 4, decoder.num_layers, 5, dtype=torch.double))
    inputs = torch.randn(4, 6, 3, dtype=torch.double)
    return decoder, inputs, state


def test_a_step_is_the_equations():
    decoder, inputs, state = make(num_layers=2)
    output, after = decoder.step(inputs[:, 0], state)
    below = inputs[:, 0]
    for layer in range(2):
        lstm = decoder.lstm
        W, U, b_x, b_h = (
            getattr(lstm, f"{name}_l{layer}")
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        i, f, g, o = (below @ W.T + b_x + state.hidden[:, layer] @ U.T + b_h).chunk(4, 1)
        cell = torch.sigmoid(i) * torch.tanh(g) + torch.sigmoid(f) * state.cell[:, layer]
        below = torch.sigmoid(o) * torch.tanh(cell)
        torch.testing.assert_close(after.hidden[:, layer], below, rtol=0, atol=1e-12)
        torch.testing.assert_close(after.cell[:, layer], cell, rtol=0, atol=1e-12)
    torch.testing.assert_close(output, below, rtol=0, atol=1e-12)


@pytest.mark.parametrize("num_layers", [1, 2, 3])
def test_all_steps_are_one_step_at_a_time(num_layers):
    decoder, inputs, state = make(num_layers=num_layers)
    outputs, last = decoder(inputs, state)
    for t in range(inputs.size(1)):
        output, state = decoder.step(inputs[:, t], state)
        torch.testing.assert_close(outputs[:, t], output, rtol=0, atol=1e-10)
    torch.testing.assert_close(last, state, rtol=0, atol=1e-10)


def test_gradients_of_a_step():
    decoder, inputs, state = make(num_layers=2)
    leaves = [x.requires_grad_() for x in (inputs[:, 0], *state)]

    def step(x, hidden, cell):
        output, after = decoder.step(x, DecoderState(hidden, cell))
        return (output, *after)

    assert torch.autograd.gradcheck(step, leaves)


def test_dropout_is_between_layers_only():
    decoder, inputs, state = make(num_layers=2, dropout=0.5)
    decoder.train()
    torch.manual_seed(1)
    _, after = decoder.step(inputs[:, 0], state)
    decoder.eval()
    _, without = decoder.step(inputs[:, 0], state)
    torch.testing.assert_close(after.hidden[:, 0], without.hidden[:, 0], rtol=0, atol=1e-12)
    assert not torch.allclose(after.hidden[:, 1], without.hidden[:, 1])
    one_layer, inputs, state = make(num_layers=1)
    one_layer.lstm.dropout = 0.5
    trained, _ = one_layer.train().step(inputs[:, 0], state)
    evaluated, _ = one_layer.eval().step(inputs[:, 0], state)
    torch.testing.assert_close(trained, evaluated, rtol=0, atol=1e-12)


def test_states_keep_their_precision_under_autocast():
    torch.manual_seed(0)
    decoder = LSTMDecoder(3, 5)
    bridge = nn.Linear(3, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        state = DecoderState(bridge(torch.randn(2, 2, 3)), bridge(torch.randn(2, 2, 3)))
        output, after = decoder.step(nn.Linear(3, 3)(torch.randn(2, 3)), state)
    assert state.hidden.dtype == torch.bfloat16
    assert output.dtype == after.cell.dtype == torch.float32


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"num_layers": 0}, "num_layers"),
        ({"dropout": 1.0}, "dropout"),
        ({"dropout": -0.1}, "dropout"),
    ],
)
def test_impossible_settings(settings, name):
    with pytest.raises(ValueError, match=name):
        LSTMDecoder(3, 5, **settings)


def test_dropout_without_a_second_layer_warns():
    with pytest.warns(UserWarning, match="num_layers"):
        LSTMDecoder(3, 5, num_layers=1, dropout=0.5)
