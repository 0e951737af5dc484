"""Networks of a folder are those of torch and `nn`; tensors that do not fit are named."""

import math

import pytest
import torch

from allennlp_sentmatch.standalone.networks import load_state, sentence_network, settings_of

CAS = {
    "type": "cas_lstm",
    "input_size": 4,
    "hidden_size": 3,
    "num_layers": 2,
    "bidirectional": False,
    "vertical_weight": 0.5,
    "vertical_gate": "hidden",
}
LSTMN = {"type": "lstmn", "input_size": 4, "hidden_size": 3, "bidirectional": False}
TREE = {"type": "gumbel_tree_lstm", "input_size": 4, "hidden_size": 3, "leaf": "lstm"}
LIMIT = 10_000
MASK = torch.tensor([[True] * 5, [True] * 2 + [False] * 3, [False] * 5])
"""Inputs for texts of 5, 2 and no words."""


def pooled(encoder, pooling="max"):
    return {"type": "pooled", "encoder": encoder, "pooling": pooling}


@pytest.mark.parametrize("kind", ["lstm", "gru"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_networks_of_torch(kind, bidirectional):
    settings = {"type": kind, "input_size": 4, "hidden_size": 3, "num_layers": 2, "bias": True}
    settings["bidirectional"] = bidirectional
    network = sentence_network(pooled(settings, "last"), LIMIT).double()
    assert settings_of(network.encoder.network) == settings
    inputs = torch.randn(3, 5, 4, dtype=torch.float64)
    mask = MASK.clone()
    vectors = network(inputs, mask)
    for row, length in enumerate([5, 2]):
        outputs, _ = network.encoder.network(inputs[row : row + 1, :length])
        expected = outputs[0, -1]
        if bidirectional:
            expected = torch.cat([outputs[0, -1, :3], outputs[0, 0, 3:]])
        torch.testing.assert_close(vectors[row], expected)
    assert vectors[2].tolist() == [0] * network.output_size
    mask[2, 3] = True
    with pytest.raises(ValueError, match="right-padded, but token 3 of sentence 2 follows"):
        network.encoder(inputs, mask)


def test_words_wider_than_the_encoder_reads():
    settings = pooled({**CAS, "bidirectional": True}, ["max", "last"])
    narrow = sentence_network(settings, LIMIT).double()
    network = sentence_network({**settings, "input_size": 6}, LIMIT).double()
    network.load_state_dict(narrow.state_dict())
    inputs = torch.randn(3, 5, 6, dtype=torch.float64)
    vectors = network(inputs, MASK)
    assert vectors.shape == (3, network.output_size) == (3, narrow.output_size + 6)
    means = torch.stack([inputs[0].mean(0), inputs[1, :2].mean(0), torch.zeros(6)])
    expected = torch.cat([narrow(inputs[..., :4], MASK), means], 1)
    torch.testing.assert_close(vectors, expected)


def test_words_that_no_encoder_reads():
    settings = pooled({"type": "pass_through", "input_size": 4}, ["last", "mean"])
    inputs = torch.randn(3, 5, 4, dtype=torch.float64)
    expected = torch.zeros(3, 8, dtype=torch.float64)
    for row, length in enumerate([5, 2]):
        expected[row] = torch.cat([inputs[row, length - 1], inputs[row, :length].mean(0)])
    torch.testing.assert_close(sentence_network(settings, LIMIT)(inputs, MASK), expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({**pooled(CAS), "input_size": 3}, "input_size must be an integer of at least 4"),
        ({**pooled(CAS), "input_size": 5.0}, "input_size must be an integer of at least 4"),
        (CAS, "the encoder must be an object of type pooled"),
        (pooled(None), "the pooled encoder must be an object of type cas_lstm or "),
        (pooled({"type": ["lstm"]}), "the pooled encoder must be"),
        (pooled(CAS, ["max", None]), "pooling must be a string"),
        (pooled(CAS, "median"), "pooling must be one of"),
        ({"type": "pooled", "encoder": CAS}, "there is no setting 'pooling'"),
        (pooled({**CAS, "dropout": 0.1}), "cas_lstm: there is a superfluous setting 'dropout'"),
        (pooled({**CAS, "bidirectional": 0}), "bidirectional must be true or false"),
        (pooled({**CAS, "hidden_size": 3.0}), "hidden_size must be an integer of at least 1"),
        (pooled({**CAS, "num_layers": True}), "num_layers must be an integer from 1 to 1000"),
        (pooled({**CAS, "input_size": -4}), "input_size must be an integer of at least 1"),
        (pooled({**CAS, "vertical_gate": [1]}), "vertical_gate must be a number, a string"),
        (pooled({**CAS, "vertical_weight": 2}), "vertical_weight must lie between"),
        (pooled({**CAS, "vertical_gate": 2}), "vertical_gate must be"),
        (pooled({**CAS, "hidden_size": 101}), "more parameters than the file"),
        (pooled({**CAS, "input_size": 10**6}), "more parameters than the file"),
        (pooled({**CAS, "hidden_size": 4, "num_layers": 1000}), "more parameters than the file"),
        (
            pooled({**CAS, "num_layers": 1001}),
            "cas_lstm: num_layers must be an integer from 1 to 1000; got 1001",
        ),
        (pooled(CAS, ["max"] * 101), "pooling must be a string or a list of at most 100 strings"),
        (pooled({**LSTMN, "attention_size": 10**9}), "more parameters than the file"),
        (pooled({"type": "pass_through", "input_size": 101}, "attention"), "attention has more"),
        ({**TREE, "hidden_size": 10**9}, "more parameters"),
        ({**TREE, "leaf": 1}, "leaf must"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        sentence_network(settings, LIMIT)


def test_tensors_that_do_not_fit():
    network = sentence_network(pooled(CAS), LIMIT)
    state = network.state_dict()
    load_state(network, state)
    with pytest.raises(ValueError, match="there is a superfluous tensor 'more'"):
        load_state(network, {**state, "more": torch.ones(1)})
    name = "encoder.weight_ih_l0"
    with pytest.raises(ValueError, match=f"{name}' has the shape .*2.* the settings require"):
        load_state(network, {**state, name: torch.ones(2)})
    for wrong in (math.nan, -math.inf, 1e39):  # the last is too large for float32
        with pytest.raises(ValueError, match=f"{name}' has a number that is not finite"):
            load_state(network, {**state, name: state[name].double().fill_(wrong)})
    del state[name]
    with pytest.raises(ValueError, match=f"there is no tensor '{name}'"):
        load_state(network, state)
