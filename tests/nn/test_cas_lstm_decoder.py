import pytest
import torch

from allennlp_sentmatch.nn import CellAwareLSTM, CellAwareLSTMDecoder, DecoderState
from tests.nn.gradients import gradients_or_zeros
from tests.nn.ops.conftest import BACKENDS, run_by

VARIANTS = [
    {},
    {"num_layers": 1},
    {"num_layers": 3},
    {"vertical_weight": "trainable"},
    {"vertical_weight": None},
    {"vertical_weight": None, "vertical_gate": "peephole"},
]


def make(**settings):
    torch.manual_seed(0)
    decoder = CellAwareLSTMDecoder(3, 5, **settings).double()
    with torch.no_grad():
        for name, parameter in decoder.named_parameters():
            if "logit" in name:
                parameter.normal_()
    state = DecoderState(*torch.randn(2, 4, decoder.num_layers, 5, dtype=torch.double))
    return decoder, torch.randn(4, 6, 3, dtype=torch.double), state


def test_a_step_is_the_papers_equations():
    decoder, inputs, state = make(vertical_weight=0.3)
    output, after = decoder.step(inputs[:, 0], state)
    p = dict(decoder.lstm.named_parameters())

    def gates(layer, below):
        left = state.hidden[:, layer] @ p[f"weight_hh_l{layer}"].T
        return below @ p[f"weight_ih_l{layer}"].T + left + p[f"bias_l{layer}"]

    i, f, g, o = gates(0, inputs[:, 0]).chunk(4, 1)  # eqs 1-6
    lower = i.sigmoid() * g.tanh() + f.sigmoid() * state.cell[:, 0]
    below = o.sigmoid() * lower.tanh()
    torch.testing.assert_close(after.cell[:, 0], lower, rtol=0, atol=1e-12)
    i, f, g, o, v = gates(1, below).chunk(5, 1)  # eqs 7-13
    cell = i.sigmoid() * g.tanh() + 0.7 * f.sigmoid() * state.cell[:, 1] + 0.3 * v.sigmoid() * lower
    torch.testing.assert_close(after.cell[:, 1], cell, rtol=0, atol=1e-12)
    torch.testing.assert_close(output, o.sigmoid() * cell.tanh(), rtol=0, atol=1e-12)
    torch.testing.assert_close(after.hidden[:, 1], output, rtol=0, atol=0)


@pytest.mark.parametrize("settings", VARIANTS)
def test_from_zero_states_it_is_the_encoder(settings):
    decoder, inputs, state = make(**settings)
    state = DecoderState(*(torch.zeros_like(x) for x in state))
    mask = torch.ones(4, 6, dtype=torch.bool)
    encoder = CellAwareLSTM(3, 5, **settings).double()
    encoder.load_state_dict(decoder.lstm.state_dict())
    expected, hidden, cell = encoder.last_states(inputs, mask)
    outputs, last = decoder(inputs, state)
    torch.testing.assert_close(outputs, expected, rtol=0, atol=1e-10)
    torch.testing.assert_close(last.hidden, hidden, rtol=0, atol=1e-10)
    torch.testing.assert_close(last.cell, cell, rtol=0, atol=1e-10)


def by_steps(decoder, inputs, state):
    """As `decoder(inputs, state)`, one step at a time."""
    outputs = []
    for step in inputs.unbind(1):
        output, state = decoder.step(step, state)
        outputs.append(output)
    return torch.stack(outputs, 1), state


@pytest.mark.parametrize("num_steps", [0, 1, 6])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("settings", VARIANTS)
def test_all_steps_are_one_step_at_a_time(settings, backend, num_steps):
    """Their gradients too, also where only the outputs or only the last states have some."""
    decoder, inputs, state = make(**settings)
    inputs = inputs[:, :num_steps]
    if num_steps == 0:
        with run_by(backend):
            outputs, last = decoder(inputs, state)
        assert outputs.shape == (4, 0, 5)
        torch.testing.assert_close(last, state, rtol=0, atol=0)
        return
    leaves = [x.requires_grad_() for x in (inputs, *state, *decoder.parameters())]
    expected, expected_last = by_steps(decoder, inputs, state)
    with run_by(backend):
        outputs, last = decoder(inputs, state)
        torch.testing.assert_close(outputs, expected, rtol=0, atol=1e-10)
        torch.testing.assert_close(last, expected_last, rtol=0, atol=1e-10)
        for chosen in ([0], [1], [2], [0, 1, 2]):
            upstream = [torch.randn_like(expected), *map(torch.randn_like, expected_last)]
            actual, wanted = (
                gradients_or_zeros(
                    sum((results[k] * upstream[k]).sum() for k in chosen),
                    leaves,
                    retain_graph=True,
                )
                for results in ((outputs, *last), (expected, *expected_last))
            )
            torch.testing.assert_close(actual, wanted, rtol=0, atol=1e-10)


def test_gradients_of_a_step():
    decoder, inputs, state = make(vertical_weight="trainable")
    leaves = [x.requires_grad_() for x in (inputs[:, 0], *state)]

    def step(x, hidden, cell):
        output, after = decoder.step(x, DecoderState(hidden, cell))
        return (output, *after)

    assert torch.autograd.gradcheck(step, leaves)


def test_dropout_is_on_hidden_states_between_layers_only():
    decoder, inputs, state = make(dropout=0.5)
    decoder.train()
    torch.manual_seed(1)
    _, after = decoder.step(inputs[:, 0], state)
    decoder.eval()
    _, without = decoder.step(inputs[:, 0], state)
    torch.testing.assert_close(after.hidden[:, 0], without.hidden[:, 0], rtol=0, atol=1e-12)
    assert not torch.allclose(after.hidden[:, 1], without.hidden[:, 1])


def test_impossible_settings():
    with pytest.raises(ValueError, match="vertical_weight"):
        CellAwareLSTMDecoder(3, 5, vertical_weight=1.5)


def test_states_keep_their_precision_under_autocast():
    torch.manual_seed(0)
    decoder = CellAwareLSTMDecoder(3, 5)
    bridge = torch.nn.Linear(3, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        state = DecoderState(bridge(torch.randn(2, 2, 3)), bridge(torch.randn(2, 2, 3)))
        output, after = decoder.step(torch.randn(2, 3).bfloat16(), state)
    assert output.dtype == after.cell.dtype == torch.float32
