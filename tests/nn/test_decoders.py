"""Decoders against their equations, one step at a time."""

import pytest
import torch
from torch import nn

from allennlp_sentmatch.nn import (
    AttentionalDecoder,
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
    torch.manual_seed(0)
    decoder = kind(3, 5, **settings).double()
    for name, parameter in decoder.named_parameters():
        if "logit" in name:
            nn.init.normal_(parameter)
    state = DecoderState(*torch.randn(2, 4, decoder.num_layers, 5, dtype=torch.double))
    return decoder, torch.randn(4, 6, 3, dtype=torch.double), state


@pytest.mark.parametrize("settings", VARIANTS)
def test_outputs_follow_the_equations(settings):
    decoder, inputs, state = make(**settings)
    outputs, _ = decoder(inputs, state)
    for sentence, output, h, c in zip(inputs, outputs, *state):
        layers = read_as_in_the_paper(decoder.lstm, sentence, start=list(zip(h, c)))
        assert_same(output, torch.stack([step["h"] for step in layers[-1]]))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("kind", "settings", "num_steps"),
    [
        *((CellAwareLSTMDecoder, settings, steps) for settings in VARIANTS for steps in (0, 1, 6)),
        *((LSTMDecoder, {"num_layers": number}, 6) for number in (1, 3)),
    ],
)
def test_all_steps_are_one_step_at_a_time(kind, settings, num_steps, backend):
    """test_every_recurrence.py tests the gradients."""
    decoder, inputs, state = make(kind, **settings)
    with run_by(backend):
        outputs, last = decoder(inputs[:, :num_steps], state)
    assert outputs.shape == (4, num_steps, 5)
    for step in range(num_steps):
        output, state = decoder.step(inputs[:, step], state)
        assert_same(outputs[:, step], output)
    torch.testing.assert_close(last, state, rtol=0, atol=1e-9)


@both_decoders
def test_dropout_is_on_hidden_states_between_layers_only(kind):
    for num_layers in (1, 2):
        decoder, inputs, state = make(kind, num_layers=num_layers)
        decoder.lstm.dropout = 0.5
        _, after = decoder.train().step(inputs[:, 0], state)
        _, without = decoder.eval().step(inputs[:, 0], state)
        assert_same(after.hidden[:, 0], without.hidden[:, 0])
        assert num_layers == 1 or not torch.allclose(after.hidden[:, 1], without.hidden[:, 1])


@both_decoders
def test_states_keep_their_precision_under_autocast(kind):
    decoder = kind(3, 5)
    bridge = nn.Linear(3, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        state = DecoderState(bridge(torch.randn(2, 2, 3)), bridge(torch.randn(2, 2, 3)))
        output, after = decoder.step(torch.randn(2, 3).bfloat16(), state)
    assert state.hidden.dtype == torch.bfloat16
    assert output.dtype == after.cell.dtype == torch.float32


def test_a_bridge_of_equal_sizes_passes_the_states_on():
    bridge = StateBridge(4, 4, 2, has_states=True)
    states = torch.randn(2, 3, 2, 4)
    start = bridge(torch.randn(3, 4), (states[0], states[1]))
    assert torch.equal(start.hidden, states[0])
    assert torch.equal(start.cell, states[1])
    assert not list(bridge.parameters())


@pytest.mark.parametrize("has_states", [True, False])
def test_a_bridge_of_other_sizes_has_a_linear_layer_for_each_state(has_states):
    """Without states, the last output initializes every layer."""
    torch.manual_seed(0)
    bridge = StateBridge(4, 3, 2, has_states)
    states = torch.randn(2, 5, 2, 4)
    last = torch.randn(5, 4)
    start = bridge(last, (states[0], states[1]) if has_states else None)
    for k in range(2):
        h, c = states[:, :, k] if has_states else (last, last)
        hidden = h @ bridge.hidden[k].weight.T + bridge.hidden[k].bias
        cell = c @ bridge.cell[k].weight.T + bridge.cell[k].bias
        torch.testing.assert_close(start.hidden[:, k], hidden if has_states else hidden.tanh())
        torch.testing.assert_close(start.cell[:, k], cell)


B = 3
S = 5
T = 4
E = 7
D = 2
H = 6
A = 3


class Bilinear(nn.Module):
    """Softmax of s W h over the unmasked rows."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(H, E))

    def forward(self, vector, matrix, mask):
        scores = torch.einsum("bh,he,bse->bs", vector, self.weight, matrix)
        return torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)


def attentional(input_feeding=True, dropout=0.0):
    """A decoder, its inputs, first state and encoder's outputs, and the source's mask."""
    torch.manual_seed(0)
    layers = LSTMDecoder(D + A * input_feeding, H)
    decoder = AttentionalDecoder(layers, Bilinear(), E, A, dropout, input_feeding).double().eval()
    state = decoder.initial_state(DecoderState(*torch.randn(2, B, 2, H, dtype=torch.double)))
    embedded = torch.randn(B, T, D, dtype=torch.double)
    encoder_outputs = torch.randn(B, S, E, dtype=torch.double)
    mask = torch.arange(S) < torch.tensor([[5], [3], [1]])
    return decoder, embedded, state, encoder_outputs, mask


@pytest.mark.parametrize("input_feeding", [True, False])
def test_attentional_decoding_one_sentence_at_a_time(input_feeding):
    decoder, embedded, state, encoder_outputs, mask = attentional(input_feeding)
    vectors, weights = decoder(embedded, state, encoder_outputs, mask)
    W_o = decoder.output_projection.weight
    W_a = decoder.attention.weight
    for b in range(B):
        s = encoder_outputs[b, mask[b]]  # the source's own tokens
        layers = DecoderState(*(x[b : b + 1] for x in state.layers))
        a = torch.zeros(A, dtype=torch.double)
        for j in range(T):
            x = torch.cat([embedded[b, j], a]) if input_feeding else embedded[b, j]
            h, layers = decoder.decoder.step(x.unsqueeze(0), layers)
            w = torch.softmax(s @ W_a.T @ h[0], 0)
            a = torch.tanh(W_o @ torch.cat([w @ s, h[0]]))
            assert_same(vectors[b, j], a)
            assert_same(weights[b, j, : len(s)], w)
            assert weights[b, j, len(s) :].eq(0).all()


def test_dropout_acts_on_what_is_fed_back():
    decoder, embedded, state, encoder_outputs, mask = attentional(dropout=0.5)
    decoder.train()
    _, after = decoder.step(embedded[:, 0], state, encoder_outputs, mask)
    fed = []
    step = decoder.decoder.step
    decoder.decoder.step = lambda inputs, layers: fed.append(inputs) or step(inputs, layers)
    decoder.step(embedded[:, 1], after, encoder_outputs, mask)
    torch.testing.assert_close(fed[0][:, D:], after.attentional, rtol=0, atol=0)
    assert after.attentional.eq(0).any()


@pytest.mark.parametrize("input_feeding", [True, False])
def test_a_target_without_steps_is_refused(input_feeding):
    decoder, embedded, *others = attentional(input_feeding)
    with pytest.raises(ValueError, match="num_steps must be an integer of at least 1; got 0"):
        decoder(embedded[:, :0], *others)


def test_a_bridge_needs_its_states():
    with pytest.raises(ValueError, match=r"states are missing.* has_states=False"):
        StateBridge(4, 4, 2, has_states=True)(torch.zeros(3, 4))
