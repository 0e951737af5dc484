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
LSTMN = {
    "type": "lstmn",
    "input_size": 4,
    "hidden_size": 3,
    "bidirectional": False,
}
TREE = {
    "type": "gumbel_tree_lstm",
    "input_size": 4,
    "hidden_size": 3,
    "leaf": "lstm",
}
LIMIT = 10_000
"""The parameters that the file has."""
MASK = torch.tensor([[True] * 5, [True] * 2 + [False] * 3, [False] * 5])
"""Inputs for texts of 5, 2 and no words."""


def pooled(encoder, pooling="max"):
    return {
        "type": "pooled",
        "encoder": encoder,
        "pooling": pooling,
    }


def pooled_cas(**changes):
    """Return a pooled CAS-LSTM with some of its settings changed."""
    return pooled({**CAS, **changes})


def random_inputs(width=4):
    return torch.randn(3, 5, width, dtype=torch.float64)


def torch_settings(kind, bidirectional):
    """Return the settings of a network of two layers of torch."""
    return {
        "type": kind,
        "input_size": 4,
        "hidden_size": 3,
        "num_layers": 2,
        "bias": True,
        "bidirectional": bidirectional,
    }


@pytest.mark.parametrize("kind", ["lstm", "gru"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_networks_of_torch(kind, bidirectional):
    settings = torch_settings(kind, bidirectional)
    network = sentence_network(pooled(settings, "last"), LIMIT).double()
    assert settings_of(network.encoder.network) == settings
    inputs = random_inputs()
    vectors = network(inputs, MASK)
    for row, length in enumerate([5, 2]):
        words = inputs[row : row + 1, :length]
        (states,), _ = network.encoder.network(words)
        expected = states[-1]
        if bidirectional:
            expected = torch.cat([states[-1, :3], states[0, 3:]])
        torch.testing.assert_close(vectors[row], expected)
    assert vectors[2].tolist() == [0] * network.output_size


@pytest.mark.parametrize("kind", ["lstm", "gru"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_mask_with_holes_is_refused(kind, bidirectional):
    settings = torch_settings(kind, bidirectional)
    network = sentence_network(pooled(settings), LIMIT).double()
    mask = MASK.clone()
    mask[2, 3] = True
    with pytest.raises(ValueError, match="right-padded, but token 3 of sentence 2 follows"):
        network.encoder(random_inputs(), mask)


def test_words_wider_than_the_encoder_reads():
    settings = pooled({**CAS, "bidirectional": True}, ["max", "last"])
    narrow = sentence_network(settings, LIMIT).double()
    network = sentence_network({**settings, "input_size": 6}, LIMIT).double()
    network.load_state_dict(narrow.state_dict())
    inputs = random_inputs(width=6)
    vectors = network(inputs, MASK)
    assert network.output_size == narrow.output_size + 6
    assert vectors.shape == (3, network.output_size)
    means = torch.zeros(3, 6, dtype=torch.float64)
    means[0] = inputs[0].mean(0)
    means[1] = inputs[1, :2].mean(0)
    expected = torch.cat([narrow(inputs[..., :4], MASK), means], 1)
    torch.testing.assert_close(vectors, expected)


def test_words_that_no_encoder_reads():
    settings = pooled({"type": "pass_through", "input_size": 4}, ["last", "mean"])
    inputs = random_inputs()
    expected = torch.zeros(3, 8, dtype=torch.float64)
    for row, length in enumerate([5, 2]):
        words = inputs[row, :length]
        expected[row] = torch.cat([words[-1], words.mean(0)])
    vectors = sentence_network(settings, LIMIT)(inputs, MASK)
    torch.testing.assert_close(vectors, expected)


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
        (pooled_cas(dropout=0.1), "cas_lstm: there is a superfluous setting 'dropout'"),
        (pooled_cas(bidirectional=0), "bidirectional must be true or false"),
        (pooled_cas(hidden_size=3.0), "hidden_size must be an integer of at least 1"),
        (pooled_cas(num_layers=True), "num_layers must be an integer from 1 to 1000"),
        (pooled_cas(input_size=-4), "input_size must be an integer of at least 1"),
        (pooled_cas(vertical_gate=[1]), "vertical_gate must be a number, a string"),
        (pooled_cas(vertical_weight=2), "vertical_weight must be a number above 0 and below 1, or"),
        (pooled_cas(vertical_gate=2), "vertical_gate must be"),
        (pooled_cas(hidden_size=101), "more parameters than the file"),
        (pooled_cas(input_size=10**6), "more parameters than the file"),
        (pooled_cas(hidden_size=4, num_layers=1000), "more parameters than the file"),
        (
            pooled_cas(num_layers=1001),
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


WEIGHT = "encoder.weight_ih_l0"


@pytest.fixture
def network():
    return sentence_network(pooled(CAS), LIMIT)


def test_tensors_that_fit_are_loaded(network):
    state = {name: tensor + 1 for name, tensor in network.state_dict().items()}
    load_state(network, state)
    torch.testing.assert_close(dict(network.state_dict()), state)


def test_missing_and_superfluous_tensors_are_named(network):
    state = network.state_dict()
    with pytest.raises(ValueError, match="there is a superfluous tensor 'more'"):
        load_state(network, {**state, "more": torch.ones(1)})
    del state[WEIGHT]
    with pytest.raises(ValueError, match=f"there is no tensor '{WEIGHT}'"):
        load_state(network, state)


def test_a_tensor_of_another_shape_is_named(network):
    state = {**network.state_dict(), WEIGHT: torch.ones(2)}
    with pytest.raises(ValueError, match=f"{WEIGHT}' has the shape .*2.* the settings require"):
        load_state(network, state)


@pytest.mark.parametrize("wrong", [math.nan, -math.inf, 1e39])  # the last exceeds float32's range
def test_a_number_that_is_not_finite_is_refused(network, wrong):
    state = network.state_dict()
    state[WEIGHT] = torch.full_like(state[WEIGHT], wrong, dtype=torch.float64)
    with pytest.raises(ValueError, match=f"{WEIGHT}' has a number that is not finite"):
        load_state(network, state)
