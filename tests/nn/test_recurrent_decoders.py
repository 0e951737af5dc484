"""Recurrent decoders against their equations, one step at a time, and their first states."""

import pytest
import torch
from torch import nn
from torch.nn.utils import prune

from allennlp_sentmatch.nn import (
    CellAwareLSTMDecoder,
    DecoderState,
    LSTMDecoder,
    StateBridge,
)
from tests.nn.equations import assert_same
from tests.nn.ops.conftest import BACKENDS, run_by
from tests.nn.test_cas_lstm import read_as_in_the_paper

VARIANTS = [
    {},
    {"num_layers": 1},
    {"num_layers": 3},
    {"vertical_weight": "trainable"},
    {"vertical_weight": None},
    {"vertical_weight": None, "vertical_gate": "peephole"},
]
both_decoders = pytest.mark.parametrize("kind", [LSTMDecoder, CellAwareLSTMDecoder])


def make(kind=CellAwareLSTMDecoder, **settings):
    """Return a decoder, inputs of six steps, and a first state, for four sentences."""
    torch.manual_seed(0)
    decoder = kind(3, 5, **settings).double()
    for name, parameter in decoder.named_parameters():
        if "logit" in name:
            nn.init.normal_(parameter)
    hidden, cell = torch.randn(2, 4, decoder.num_layers, 5, dtype=torch.double)
    inputs = torch.randn(4, 6, 3, dtype=torch.double)
    return decoder, inputs, DecoderState(hidden, cell)


@pytest.mark.parametrize("settings", VARIANTS)
def test_outputs_follow_the_equations(settings):
    decoder, inputs, state = make(**settings)
    outputs, _ = decoder(inputs, state)
    for sentence, output, h, c in zip(inputs, outputs, *state):
        layers = read_as_in_the_paper(decoder.lstm, sentence, start=list(zip(h, c)))
        expected = torch.stack([step["h"] for step in layers[-1]])
        assert_same(output, expected)


def check_steps(decoder, inputs, state, backend):
    """All steps are one step at a time. test_every_recurrence.py tests the gradients."""
    with run_by(backend):
        outputs, last = decoder(inputs, state)
    assert outputs.shape == (4, inputs.size(1), 5)
    for step in range(inputs.size(1)):
        output, state = decoder.step(inputs[:, step], state)
        assert_same(outputs[:, step], output)
    torch.testing.assert_close(last, state, rtol=0, atol=1e-9)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("settings", VARIANTS)
@pytest.mark.parametrize("num_steps", [0, 1, 6])
def test_steps_of_cas_lstm(settings, num_steps, backend):
    decoder, inputs, state = make(CellAwareLSTMDecoder, **settings)
    check_steps(decoder, inputs[:, :num_steps], state, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("num_layers", [1, 3])
def test_steps_of_lstm(num_layers, backend):
    decoder, inputs, state = make(LSTMDecoder, num_layers=num_layers)
    check_steps(decoder, inputs, state, backend)


@both_decoders
def test_no_steps_leave_the_state(kind):
    decoder, inputs, state = make(kind)
    outputs, last = decoder(inputs[:, :0], state)
    assert outputs.shape == (4, 0, 5)
    assert torch.equal(last.hidden, state.hidden)
    assert torch.equal(last.cell, state.cell)


@both_decoders
@pytest.mark.parametrize("several", [False, True])
def test_steps_have_the_weights_that_hooks_compute(kind, several):
    """Pruning computes the weights whenever the layers are called."""

    def run(decoder):
        return decoder(inputs, state) if several else decoder.step(inputs[:, 0], state)

    decoder, inputs, state = make(kind)
    prune.l1_unstructured(decoder.lstm, "weight_hh_l0", 0.5)
    other = make(kind)[0]
    with torch.no_grad():
        for parameter in (decoder.lstm.weight_hh_l0_orig, other.lstm.weight_hh_l0):
            parameter.mul_(2)
        other.lstm.weight_hh_l0.mul_(decoder.lstm.weight_hh_l0_mask)
    for result, expected in zip(run(decoder), run(other)):
        torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("shape", [(1, 2, 5), (4, 3, 5), (4, 2, 1)])
def test_states_of_other_shapes_are_refused(shape, backend):
    """Those of fewer sentences, of more layers and of one unit, which torch would broadcast."""
    for kind in (LSTMDecoder, CellAwareLSTMDecoder):
        decoder, inputs, state = make(kind)
        wrong = state._replace(cell=inputs.new_zeros(shape))
        with pytest.raises(ValueError, match=r"the cell .* shape .* \(4, 2, 5\), got"):
            decoder.step(inputs[:, 0], wrong)
    with run_by(backend), pytest.raises(ValueError, match=r"the cell .* \(4, 2, 5\), got"):
        decoder(inputs, wrong)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:torch.quantize_per")  # torch's
def test_layers_may_be_quantized():
    decoder = LSTMDecoder(3, 5)
    inputs = torch.randn(4, 6, 3)
    state = DecoderState(*torch.randn(2, 4, 2, 5))
    quantized = torch.ao.quantization.quantize_dynamic(decoder)
    for actual, expected in (
        (quantized(inputs, state), decoder(inputs, state)),
        (quantized.step(inputs[:, 0], state), decoder.step(inputs[:, 0], state)),
    ):
        torch.testing.assert_close(actual, expected, rtol=0, atol=0.1)


@both_decoders
@pytest.mark.parametrize("num_layers", [1, 2])
def test_dropout_is_on_hidden_states_between_layers_only(kind, num_layers):
    decoder, inputs, state = make(kind, num_layers=num_layers)
    decoder.lstm.dropout = 0.5
    _, after = decoder.train().step(inputs[:, 0], state)
    _, without = decoder.eval().step(inputs[:, 0], state)
    assert_same(after.hidden[:, 0], without.hidden[:, 0])
    if num_layers == 2:
        assert not torch.allclose(after.hidden[:, 1], without.hidden[:, 1])


@both_decoders
def test_states_keep_their_precision_under_autocast(kind):
    decoder = kind(3, 5)
    bridge = nn.Linear(3, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        state = DecoderState(bridge(torch.randn(2, 2, 3)), bridge(torch.randn(2, 2, 3)))
        output, after = decoder.step(torch.randn(2, 3).bfloat16(), state)
    assert state.hidden.dtype == torch.bfloat16
    assert output.dtype == torch.float32
    assert after.cell.dtype == torch.float32


def test_a_bridge_of_equal_sizes_passes_the_states_on():
    bridge = StateBridge(4, 4, 2, has_states=True)
    states = torch.randn(2, 3, 2, 4)
    start = bridge(torch.randn(3, 4), (states[0], states[1]))
    assert torch.equal(start.hidden, states[0])
    assert torch.equal(start.cell, states[1])
    assert not list(bridge.parameters())


@pytest.fixture
def random_seed():
    torch.manual_seed(0)


def test_a_bridge_of_other_sizes_has_a_linear_layer_for_each_state(random_seed):
    bridge = StateBridge(4, 3, 2, has_states=True)
    hidden, cell = torch.randn(2, 5, 2, 4)
    start = bridge(torch.randn(5, 4), (hidden, cell))
    for layer in range(2):
        expected_hidden = bridge.hidden[layer](hidden[:, layer])
        expected_cell = bridge.cell[layer](cell[:, layer])
        torch.testing.assert_close(start.hidden[:, layer], expected_hidden)
        torch.testing.assert_close(start.cell[:, layer], expected_cell)


def test_without_states_the_last_output_initializes_every_layer(random_seed):
    bridge = StateBridge(4, 3, 2, has_states=False)
    last = torch.randn(5, 4)
    start = bridge(last, None)
    for layer in range(2):
        torch.testing.assert_close(start.hidden[:, layer], bridge.hidden[layer](last).tanh())
        torch.testing.assert_close(start.cell[:, layer], bridge.cell[layer](last))


def test_a_bridge_needs_its_states():
    bridge = StateBridge(4, 4, 2, has_states=True)
    with pytest.raises(ValueError, match=r"states are missing.* has_states=False"):
        bridge(torch.zeros(3, 4))


@pytest.mark.parametrize("decoder_size", [4, 6])
def test_a_bridge_refuses_states_of_other_layers(decoder_size):
    bridge = StateBridge(4, decoder_size, 2, has_states=True)
    states = torch.zeros(2, 3, 3, 4)
    with pytest.raises(ValueError, match=r"num_layers, encoder_size\), \(3, 2, 4\), got"):
        bridge(torch.zeros(3, 4), (states[0], states[1]))
