"""CAS-LSTM against the equations of Choi et al. (2019), one token at a time in float64."""

import numpy as np
import pytest
import torch

from allennlp_sentmatch.nn import CellAwareLSTM
from allennlp_sentmatch.nn.ops.backends import use_backend
from tests.nn import equations
from tests.nn.equations import assert_same, normal

D = 5
H = 3
VARIANTS = {
    "lambda 0.5": {},
    "lambda 0.3": {"vertical_weight": 0.3},
    "trainable lambda": {"vertical_weight": "trainable"},
    "no lambda": {"vertical_weight": None},
    "peephole": {"vertical_gate": "peephole"},
}


def build(seed: int = 0, **settings) -> CellAwareLSTM:
    torch.manual_seed(seed)
    return normal(CellAwareLSTM(D, H, **settings))  # lambda's logits too: no symmetry left


def batch(lengths):
    return equations.batch(lengths, max(lengths), D, seed=1)


def read_as_in_the_paper(encoder, sentence, suffix="", start=None):
    """Return for each layer and token the gates, the cell and the hidden state, by their letters.

    `start` are h and c of each layer before the first token.
    """
    layers = []
    below = [{"h": x} for x in sentence]
    for layer in range(encoder.num_layers):
        h, c = start[layer] if start else sentence.new_zeros(2, encoder.hidden_size)
        steps = []
        for lower in below:
            step = step_of_layer(encoder, f"_l{layer}{suffix}", lower, h, c)
            h = step["h"]
            c = step["c"]
            steps.append(step)
        layers.append(steps)
        below = steps
    return layers


@pytest.fixture(autouse=True)
def naive_backend():
    """Other backends have their own tests, which compare them with this one."""
    with use_backend("naive"):
        yield


def step_of_layer(encoder, ending, lower, h, c):
    """Return the gates, the cell and the hidden state of a token: eqs 1-13, 17 and 18.

    `lower` is the token's step in the layer below, of which the lowest layer has only h.
    """
    has_vertical_gate = "c" in lower
    is_peephole = has_vertical_gate and encoder.vertical_gate == "peephole"
    left = getattr(encoder, f"weight_hh{ending}") @ h
    if is_peephole:  # eq. 17
        of_left = getattr(encoder, f"peephole_left{ending}") * c
        of_lower = getattr(encoder, f"peephole_lower{ending}") * lower["c"]
        left = torch.cat([left, of_left + of_lower])
    products = getattr(encoder, f"weight_ih{ending}") @ lower["h"] + left
    i, f, g, o, *v = (products + getattr(encoder, f"bias{ending}")).split(encoder.hidden_size)
    step = {
        "i": i.sigmoid(),
        "f": f.sigmoid(),
        "g": g.tanh(),
        "o": o.sigmoid(),
    }
    own = 1  # eqs 5 and 18
    weight_of_lower = 1
    if has_vertical_gate and not is_peephole and encoder.vertical_weight is not None:
        weight_of_lower = encoder.vertical_weight
        if weight_of_lower == "trainable":
            weight_of_lower = getattr(encoder, f"vertical_logit{ending}").sigmoid()
        own = 1 - weight_of_lower  # eq. 12
    step["c"] = step["i"] * step["g"] + own * step["f"] * c
    if has_vertical_gate:
        step["v"] = v[0].sigmoid()
        step["c"] = step["c"] + weight_of_lower * step["v"] * lower["c"]
    step["h"] = step["o"] * step["c"].tanh()  # eq. 13
    return step


FIELDS = {
    "input": "i",
    "forget": "f",
    "candidate": "g",
    "output": "o",
    "cell": "c",
}
"""The letters of the fields of the gates that are returned."""


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("num_layers", [1, 2, 3])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_outputs_and_gates_follow_the_equations(variant, num_layers, bidirectional):
    settings = VARIANTS[variant]
    encoder = build(num_layers=num_layers, bidirectional=bidirectional, **settings)
    lengths = [4, 1, 6, 3, 0]
    inputs, mask = batch(lengths)
    outputs, gates = encoder(inputs, mask, return_gates=True)
    assert_same(encoder(inputs, mask), outputs)
    assert outputs.shape == (5, 6, encoder.output_size)
    assert len(gates) == num_layers
    for row, length in enumerate(lengths):
        sentence = inputs[row, :length]
        layers = read_as_in_the_paper(encoder, sentence)
        check_direction(outputs[row, :, :H], [gate[0] for gate in gates], row, layers)
        if bidirectional:
            layers = read_as_in_the_paper(encoder, sentence.flip(0), "_reverse")
            in_order = [steps[::-1] for steps in layers]
            check_direction(outputs[row, :, H:], [gate[1] for gate in gates], row, in_order)


def check_direction(outputs, gates, row, layers):
    """The outputs are the last layer's hidden states, and each layer's gates are returned."""
    for actual, step in zip(outputs, layers[-1]):
        assert_same(actual, step["h"])
    for layer, (found, steps) in enumerate(zip(gates, layers)):
        fields = dict(FIELDS)
        if layer == 0:
            assert found.vertical is None
        else:
            fields["vertical"] = "v"
        for field, letter in fields.items():
            values = getattr(found, field)[row]
            for value, step in zip(values, steps):
                assert_same(value, step[letter])
            assert not values[len(steps) :].any()


def test_dropout_is_applied_to_hidden_states_between_layers_only():
    encoder = build(num_layers=2, dropout=0.5)
    inputs, mask = batch([6, 6])
    torch.manual_seed(0)
    _, gates = encoder(inputs, mask, return_gates=True)
    _, expected = encoder.eval()(inputs, mask, return_gates=True)
    torch.testing.assert_close(gates[0], expected[0])
    # Layer 1 reads whole cells below, and hidden states about half of which are zero.
    first = gates[0][0]
    hidden = first.output * torch.tanh(first.cell)  # eq. 6
    torch.manual_seed(0)
    dropped = torch.nn.functional.dropout(hidden.contiguous(), 0.5)
    x = dropped[:, 0] @ encoder.weight_ih_l1.t() + encoder.bias_l1  # h_0 = 0
    i, _, g, _, v = x.chunk(5, dim=-1)
    second = gates[1][0]
    torch.testing.assert_close(second.vertical[:, 0], torch.sigmoid(v), rtol=0, atol=1e-9)
    cell = torch.sigmoid(i) * torch.tanh(g) + 0.5 * torch.sigmoid(v) * first.cell[:, 0]
    torch.testing.assert_close(second.cell[:, 0], cell, rtol=0, atol=1e-9)
    assert dropped.eq(0).any()


def test_parameters_start_as_those_of_torch_lstm():
    torch.manual_seed(0)
    encoder = CellAwareLSTM(100, 64, vertical_weight="trainable")
    for name, parameter in encoder.named_parameters():
        if "logit" in name:
            assert not parameter.any()
        else:
            assert parameter.abs().max() <= 1 / 8
            assert parameter.std().item() == pytest.approx(1 / 8 / 3**0.5, rel=0.15)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_vertical_weight_of_numpy_is_one(kind):
    encoder = build(vertical_weight=kind(0.25))
    other = build(vertical_weight=0.25)
    assert torch.equal(encoder(*batch([3, 2])), other(*batch([3, 2])))
    assert repr(encoder) == repr(other)


@pytest.mark.parametrize("weight", ["trainable", 0.3])
def test_a_peephole_has_no_lambda(weight):
    message = f"vertical_weight={weight!r} has no effect with vertical_gate.*leave it out"
    with pytest.raises(ValueError, match=message):
        CellAwareLSTM(D, H, vertical_weight=weight, vertical_gate="peephole")


def test_gates_and_states_are_not_returned_together():
    with pytest.raises(ValueError, match="return_gates and return_states cannot both be true"):
        build()(*batch([3, 2]), return_gates=True, return_states=True)


@pytest.mark.parametrize(("B", "T"), [(0, 4), (3, 0), (0, 0)])
def test_gates_of_empty_batches(B, T):
    inputs = torch.zeros(B, T, D).double()
    mask = torch.zeros(B, T, dtype=torch.bool)
    _, gates = build(bidirectional=True)(inputs, mask, return_gates=True)
    assert gates[1][1].vertical.shape == (B, T, H)
