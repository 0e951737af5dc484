"""CAS-LSTM against the equations of Choi et al. (2019), one token at a time in float64."""

import itertools
from typing import Optional

import numpy as np
import pytest
import torch

from allennlp_sentmatch.nn import CellAwareLSTM
from allennlp_sentmatch.nn.ops.backends import use_backend

D, H = 5, 3
VARIANTS = {
    "lambda 0.5": {},
    "lambda 0.3": {"vertical_weight": 0.3},
    "trainable lambda": {"vertical_weight": "trainable"},
    "no lambda": {"vertical_weight": None},
    "peephole": {"vertical_gate": "peephole"},
}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def build(seed: int = 0, **settings) -> CellAwareLSTM:
    torch.manual_seed(seed)
    encoder = CellAwareLSTM(D, H, **settings).double()
    for parameter in encoder.parameters():  # lambda's logits too: no symmetry left
        torch.nn.init.uniform_(parameter, -1, 1)
    return encoder


def batch(lengths: list[int], seed: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    T = max(lengths)
    inputs = torch.randn(len(lengths), T, D, generator=generator, dtype=torch.float64)
    mask = torch.arange(T) < torch.tensor(lengths).unsqueeze(1)
    return inputs, mask


class Paper:
    """Eqs 1-13, 17 and 18 for one sentence, as printed: one matrix for each gate."""

    def __init__(self, encoder: CellAwareLSTM, suffix: str) -> None:
        self.encoder = encoder
        self.parameters: dict[str, np.ndarray] = {
            name[: len(name) - len(suffix)]: value.detach().numpy()
            for name, value in encoder.named_parameters()
            if name.endswith("_reverse") == bool(suffix)
        }

    def block(self, name: str, layer: int, gate: str) -> np.ndarray:
        k = "ifgov".index(gate)
        return self.parameters[f"{name}_l{layer}"][k * H : (k + 1) * H]

    def read(self, sentence: np.ndarray) -> list[list[dict[str, np.ndarray]]]:
        """For each layer and token, the gates, the cell and the hidden state."""
        layers: list[list[dict[str, np.ndarray]]] = []
        for layer in range(self.encoder.num_layers):
            h, c = np.zeros(H), np.zeros(H)
            steps = []
            for t, x in enumerate(sentence):
                below: Optional[dict[str, np.ndarray]] = layers[-1][t] if layer else None
                step = self.step(layer, x if below is None else below["h"], below, h, c)
                h, c = step["h"], step["c"]
                steps.append(step)
            layers.append(steps)
        return layers

    def step(self, layer, x, below, h, c) -> dict[str, np.ndarray]:
        def affine(gate: str) -> np.ndarray:
            return (
                self.block("weight_ih", layer, gate) @ x
                + self.block("weight_hh", layer, gate) @ h
                + self.block("bias", layer, gate)
            )

        i, f, o = sigmoid(affine("i")), sigmoid(affine("f")), sigmoid(affine("o"))
        g = np.tanh(affine("g"))
        step = {"i": i, "f": f, "g": g, "o": o}
        if below is None:
            step["c"] = i * g + f * c  # eq. 5
        elif self.encoder.vertical_gate == "peephole":
            step["v"] = sigmoid(  # eq. 17
                self.block("weight_ih", layer, "v") @ x
                + self.parameters[f"peephole_left_l{layer}"] * c
                + self.parameters[f"peephole_lower_l{layer}"] * below["c"]
                + self.block("bias", layer, "v")
            )
            step["c"] = i * g + f * c + step["v"] * below["c"]  # eq. 18
        else:
            step["v"] = sigmoid(affine("v"))  # eq. 9
            weight = self.encoder.vertical_weight
            if weight is None:
                step["c"] = i * g + f * c + step["v"] * below["c"]
            else:
                if weight == "trainable":
                    weight = sigmoid(self.parameters[f"vertical_logit_l{layer}"])
                step["c"] = i * g + (1 - weight) * f * c + weight * step["v"] * below["c"]  # eq. 12
        step["h"] = o * np.tanh(step["c"])  # eq. 13
        return step


@pytest.fixture(autouse=True)
def naive_backend():
    """The other backends have their own tests, which compare them with this one."""
    with use_backend("naive"):
        yield


@pytest.mark.parametrize(
    ("variant", "num_layers", "bidirectional"),
    list(itertools.product(VARIANTS, [1, 2, 3], [False, True])),
)
def test_outputs_and_gates_follow_the_equations(variant, num_layers, bidirectional):
    encoder = build(num_layers=num_layers, bidirectional=bidirectional, **VARIANTS[variant])
    lengths = [4, 1, 6, 3]
    inputs, mask = batch(lengths)
    outputs, gates = encoder(inputs, mask, return_gates=True)
    assert outputs.shape == (4, 6, encoder.output_size)
    assert len(gates) == num_layers

    fields = {"input": "i", "forget": "f", "candidate": "g", "output": "o", "cell": "c"}
    for direction, suffix in enumerate(["", "_reverse"][: 1 + bidirectional]):
        paper = Paper(encoder, suffix)
        turn = slice(None, None, -1) if suffix else slice(None)
        for sentence, length in enumerate(lengths):
            layers = paper.read(inputs[sentence, :length].numpy()[turn])
            expected = np.stack([step["h"] for step in layers[-1]])[turn]
            actual = outputs[sentence, :length, direction * H : (direction + 1) * H]
            np.testing.assert_allclose(actual.detach().numpy(), expected, rtol=0, atol=1e-9)
            for layer, steps in enumerate(layers):
                found = gates[layer][direction]
                named = dict(fields, vertical="v") if layer else fields
                for field, gate in named.items():
                    expected = np.stack([step[gate] for step in steps])[turn]
                    actual = getattr(found, field)[sentence, :length].detach().numpy()
                    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9)
                    assert not getattr(found, field)[sentence, length:].any()
                assert (found.vertical is None) == (layer == 0)


def test_return_gates_leaves_the_outputs_as_they_are():
    encoder = build(num_layers=3, bidirectional=True)
    inputs, mask = batch([5, 2, 0])
    outputs, _ = encoder(inputs, mask, return_gates=True)
    torch.testing.assert_close(encoder(inputs, mask), outputs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_one_layer_is_torch_lstm(bidirectional):
    encoder = build(num_layers=1, bidirectional=bidirectional)
    lstm = torch.nn.LSTM(D, H, bidirectional=bidirectional, batch_first=True).double()
    with torch.no_grad():
        for name, parameter in lstm.named_parameters():
            if "bias_hh" in name:
                parameter.zero_()
            else:
                parameter.copy_(getattr(encoder, name.replace("bias_ih", "bias")))
    inputs, mask = batch([6, 2, 4])
    ours, theirs = inputs.clone().requires_grad_(), inputs.clone().requires_grad_()
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        theirs, mask.sum(1), batch_first=True, enforce_sorted=False
    )
    expected, _ = torch.nn.utils.rnn.pad_packed_sequence(lstm(packed)[0], batch_first=True)
    actual = encoder(ours, mask)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-9)

    weights = torch.randn_like(expected)
    (actual * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0, atol=1e-9)
    for name, parameter in encoder.named_parameters():
        reference = getattr(lstm, name.replace("bias", "bias_ih"))
        torch.testing.assert_close(parameter.grad, reference.grad, rtol=0, atol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_gradcheck(variant):
    torch.manual_seed(0)
    encoder = CellAwareLSTM(2, 2, bidirectional=True, **VARIANTS[variant]).double()
    for parameter in encoder.parameters():
        torch.nn.init.uniform_(parameter, -1, 1)
    inputs = torch.randn(2, 3, 2, dtype=torch.float64)
    mask = torch.arange(3) < torch.tensor([[3], [1]])
    leaves = (inputs.requires_grad_(), *encoder.parameters())
    with use_backend(None):  # the default one, whose backward pass is not autograd's
        assert torch.autograd.gradcheck(lambda inputs, *_: encoder(inputs, mask), leaves)


def test_dropout_is_applied_to_hidden_states_between_layers_only():
    encoder = build(num_layers=2, dropout=0.5)
    inputs, mask = batch([6, 6])
    torch.manual_seed(0)
    _, gates = encoder(inputs, mask, return_gates=True)
    _, expected = encoder.eval()(inputs, mask, return_gates=True)
    torch.testing.assert_close(gates[0], expected[0])
    # Layer 1 reads whole cells below, and hidden states of which about half are zero.
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


def test_empty_batches():
    encoder = build(bidirectional=True)
    for B, T in [(0, 4), (3, 0), (0, 0)]:
        inputs, mask = torch.zeros(B, T, D).double(), torch.zeros(B, T, dtype=torch.bool)
        outputs, gates = encoder(inputs, mask, return_gates=True)
        assert outputs.shape == (B, T, 2 * H)
        assert gates[1][1].vertical.shape == (B, T, H)
        assert encoder(inputs, mask).shape == (B, T, 2 * H)


@pytest.mark.parametrize(
    ("settings", "shapes"),
    [
        ({"num_layers": 1}, {"weight_ih_l0": (12, 5), "weight_hh_l0": (12, 3), "bias_l0": (12,)}),
        (
            {"vertical_weight": "trainable"},
            {"weight_ih_l1": (15, 3), "weight_hh_l1": (15, 3), "bias_l1": (15,)}
            | {"weight_ih_l0": (12, 5), "weight_hh_l0": (12, 3), "bias_l0": (12,)}
            | {"vertical_logit_l1": (3,)},
        ),
        (
            {"vertical_gate": "peephole"},
            {"weight_ih_l1": (15, 3), "weight_hh_l1": (12, 3), "bias_l1": (15,)}
            | {"weight_ih_l0": (12, 5), "weight_hh_l0": (12, 3), "bias_l0": (12,)}
            | {"peephole_left_l1": (3,), "peephole_lower_l1": (3,)},
        ),
    ],
)
def test_parameter_layout_is_the_published_one(settings, shapes):
    one_way = CellAwareLSTM(D, H, **settings)
    assert {name: tuple(p.shape) for name, p in one_way.named_parameters()} == shapes
    both_ways = CellAwareLSTM(D, H, bidirectional=True, **settings)
    assert {name: tuple(p.shape) for name, p in both_ways.named_parameters()} == {
        name + suffix: shape for name, shape in shapes.items() for suffix in ("", "_reverse")
    }


def test_parameters_start_as_those_of_torch_lstm():
    torch.manual_seed(0)
    encoder = CellAwareLSTM(100, 64, vertical_weight="trainable")
    for name, parameter in encoder.named_parameters():
        if "logit" in name:
            assert not parameter.any()
        else:
            assert parameter.abs().max() <= 1 / 8
            assert parameter.std().item() == pytest.approx(1 / 8 / 3**0.5, rel=0.15)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vertical_weight": 1}, "vertical_weight"),
        ({"vertical_weight": "learned"}, "vertical_weight.*trainable.*learned"),
        ({"vertical_gate": "cell"}, "vertical_gate.*peephole.*cell"),
        ({"vertical_weight": [0.5]}, r"vertical_weight must be a number.*\[0.5\]"),
        ({"vertical_weight": True}, r"vertical_weight must be a number.*True"),
        *(
            (
                {"vertical_weight": weight, "vertical_gate": "peephole"},
                f"vertical_weight={weight!r} has no effect with vertical_gate.*leave it out",
            )
            for weight in ("trainable", 0.3)
        ),
        ({"dropout": 1.0}, "dropout"),
        ({"dropout": -0.1}, "dropout"),
    ],
)
def test_impossible_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        CellAwareLSTM(**{"input_size": D, "hidden_size": H, **settings})


def test_dropout_without_a_second_layer_warns():
    with pytest.warns(UserWarning, match="num_layers=1"):
        CellAwareLSTM(D, H, num_layers=1, dropout=0.5)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_vertical_weight_of_numpy_is_one(kind):
    encoder, other = build(vertical_weight=kind(0.25)), build(vertical_weight=0.25)
    assert torch.equal(encoder(*batch([3, 2])), other(*batch([3, 2])))
    assert repr(encoder) == repr(other)


def test_gates_and_states_are_not_returned_together():
    with pytest.raises(ValueError, match="return_gates and return_states cannot both be true"):
        build()(*batch([3, 2]), return_gates=True, return_states=True)
