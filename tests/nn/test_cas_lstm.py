"""CAS-LSTM against the equations of Choi et al. (2019), one token at a time in float64."""

import itertools

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
    """For each layer and token, the gates, the cell and the hidden state: eqs 1-13, 17 and 18.

    `start` are h and c of each layer before the first token.
    """
    layers = []
    for layer in range(encoder.num_layers):
        p = {
            name: getattr(encoder, f"{name}_l{layer}{suffix}", None)
            for name in ("weight_ih", "weight_hh", "bias", "vertical_logit")
            + ("peephole_left", "peephole_lower")
        }
        H = encoder.hidden_size
        h, c = start[layer] if start else sentence.new_zeros(2, H)
        steps = []
        for t, x in enumerate(sentence):
            below = layers[-1][t] if layer else {"h": x}
            left = p["weight_hh"] @ h
            if encoder.vertical_gate == "peephole" and layer:  # eq. 17
                left = torch.cat([left, p["peephole_left"] * c + p["peephole_lower"] * below["c"]])
            gates = (p["weight_ih"] @ below["h"] + left + p["bias"]).split(H)
            step = {name: gate.sigmoid() for name, gate in zip("ifgov", gates)}
            step["g"] = gates[2].tanh()
            weight = encoder.vertical_weight
            if layer == 0 or encoder.vertical_gate == "peephole" or weight is None:
                own = 1
                lower = 1  # eqs 5 and 18
            else:
                lower = p["vertical_logit"].sigmoid() if weight == "trainable" else weight
                own = 1 - lower  # eq. 12
            c = step["i"] * step["g"] + own * step["f"] * c
            if layer:
                c = c + lower * step["v"] * below["c"]
            h = step["o"] * c.tanh()  # eq. 13
            steps.append({**step, "c": c, "h": h})
        layers.append(steps)
    return layers


@pytest.fixture(autouse=True)
def naive_backend():
    """Other backends have their own tests, which compare them with this one."""
    with use_backend("naive"):
        yield


@pytest.mark.parametrize(
    ("variant", "num_layers", "bidirectional"),
    list(itertools.product(VARIANTS, [1, 2, 3], [False, True])),
)
def test_outputs_and_gates_follow_the_equations(variant, num_layers, bidirectional):
    encoder = build(
        num_layers=num_layers,
        bidirectional=bidirectional,
        **VARIANTS[variant],
    )
    lengths = [4, 1, 6, 3, 0]
    inputs, mask = batch(lengths)
    outputs, gates = encoder(inputs, mask, return_gates=True)
    assert_same(encoder(inputs, mask), outputs)
    assert outputs.shape == (5, 6, encoder.output_size)
    assert len(gates) == num_layers

    fields = {
        "input": "i",
        "forget": "f",
        "candidate": "g",
        "output": "o",
        "cell": "c",
    }
    for direction, suffix in enumerate(["", "_reverse"][: 1 + bidirectional]):
        hidden = outputs[..., direction * H : (direction + 1) * H]
        for row, length in enumerate(lengths):
            order = slice(None, None, -1) if suffix else slice(None)
            sentence = inputs[row, :length]
            layers = read_as_in_the_paper(encoder, sentence.flip(0) if suffix else sentence, suffix)
            for actual, step in zip(hidden[row], layers[-1][order]):
                assert_same(actual, step["h"])
            for layer, steps in enumerate(layers):
                found = gates[layer][direction]
                for field, gate in (dict(fields, vertical="v") if layer else fields).items():
                    actual = getattr(found, field)[row]
                    for value, step in zip(actual, steps[order]):
                        assert_same(value, step[gate])
                    assert not actual[length:].any()
                assert (found.vertical is None) == (layer == 0)


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
    torch.testing.assert_close(
        second.vertical[:, 0],
        torch.sigmoid(v),
        rtol=0,
        atol=1e-9,
    )
    cell = torch.sigmoid(i) * torch.tanh(g) + 0.5 * torch.sigmoid(v) * first.cell[:, 0]
    torch.testing.assert_close(
        second.cell[:, 0],
        cell,
        rtol=0,
        atol=1e-9,
    )
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
