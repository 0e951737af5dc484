"""Sequence encoders as configurations name them. Their mathematics is tested in tests/nn."""

import json

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

import allennlp_sentmatch  # noqa: F401  (registers the components)

INPUTS = torch.randn(3, 3, 4, generator=torch.Generator().manual_seed(0))
MASK = torch.tensor([[True, True, True], [True, False, False], [False, False, False]])
HIGHWAY = {"type": "highway", "input_size": 4}
RCRN = {"type": "rcrn", "input_size": 4, "hidden_size": 3}


def build(**settings) -> Seq2SeqEncoder:
    return Seq2SeqEncoder.from_params(Params(json.loads(json.dumps(settings))))


def from_json(name: str, **settings) -> Seq2SeqEncoder:
    return build(**{"type": name, "input_size": 4, "hidden_size": 3, **settings})


@pytest.mark.parametrize(
    "encoder",
    [RCRN, HIGHWAY, {"type": "sequential", "encoders": [HIGHWAY, RCRN]}],
    ids=lambda encoder: encoder["type"],
)
def test_without_a_mask_nothing_is_padding(encoder):
    encoder = build(**encoder)
    torch.testing.assert_close(encoder(INPUTS), encoder(INPUTS, torch.ones_like(MASK)))


@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize(
    "settings",
    [{}, *({"num_layers": 2, "bidirectional": x, "dropout": 0.4} for x in (False, True))],
)
def test_stacked_rnn_is_allennlp_s_encoder(cell, settings):
    encoder = from_json("stacked_rnn", cell=cell, **settings).eval()
    theirs = from_json(cell, **settings).eval()
    assert encoder.module.network.dropout == theirs._module.dropout == settings.get("dropout", 0)
    encoder.module.network.load_state_dict(theirs._module.state_dict())
    torch.testing.assert_close(encoder(INPUTS, MASK), theirs(INPUTS, MASK), atol=1e-5, rtol=0)
    assert encoder.get_input_dim() == theirs.get_input_dim()
    assert encoder.get_output_dim() == theirs.get_output_dim()
    assert encoder.is_bidirectional() == theirs.is_bidirectional()


@pytest.mark.parametrize("num_layers", [None, 1, 3])
def test_highway_layers_are_applied_to_each_position(num_layers):
    """Srivastava et al. (2015): y = g * x + (1 - g) * relu(A x), with g = sigmoid(B x)."""
    encoder = build(**HIGHWAY, **({"num_layers": num_layers} if num_layers else {})).double()
    inputs = INPUTS.double()
    outputs = encoder(inputs, MASK)
    weights = list(encoder.state_dict().values())
    assert len(weights) == 2 * (num_layers or 2)
    for row, step in MASK.nonzero().tolist():
        y = inputs[row, step]
        for weight, bias in zip(weights[::2], weights[1::2]):
            a, b = (weight @ y + bias).chunk(2)
            y = torch.sigmoid(b) * y + (1 - torch.sigmoid(b)) * torch.relu(a)
        torch.testing.assert_close(outputs[row, step], y, rtol=0, atol=1e-9)
    assert (outputs[~MASK] == 0).all()


def test_nothing_in_the_padding_of_highway_layers_matters():
    encoder = build(**HIGHWAY)
    inputs = INPUTS.masked_fill(~MASK.unsqueeze(-1), float("nan")).requires_grad_()
    encoder(inputs, MASK).sum().backward()
    assert (inputs.grad[~MASK] == 0).all()
    for parameter in encoder.parameters():
        assert torch.isfinite(parameter.grad).all()


def test_sequential_encoders_read_the_outputs_of_the_one_before():
    encoder = build(type="sequential", encoders=[HIGHWAY, RCRN])
    highway, rcrn = encoder.encoders
    torch.testing.assert_close(encoder(INPUTS, MASK), rcrn(highway(INPUTS, MASK), MASK))


@pytest.mark.parametrize(
    ("encoders", "sizes", "bidirectional"),
    [
        ([HIGHWAY], (4, 4), False),
        ([HIGHWAY, RCRN], (4, 6), True),
        ([RCRN, {"type": "lstm", "input_size": 6, "hidden_size": 5}], (4, 5), False),
    ],
)
def test_sizes_and_direction_of_sequential_are_those_at_its_ends(encoders, sizes, bidirectional):
    encoder = build(type="sequential", encoders=encoders)
    assert (encoder.get_input_dim(), encoder.get_output_dim()) == sizes
    assert encoder.is_bidirectional() is bidirectional


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({**HIGHWAY, "input_size": 0}, "input_size must be at least 1, got 0"),
        ({**HIGHWAY, "num_layers": 0}, "num_layers must be at least 1, got 0"),
        ({"type": "sequential", "encoders": [RCRN, HIGHWAY]}, r"output dim of encoder 0.*6.*4"),
        ({"type": "sequential", "encoders": []}, "encoders is empty; list at least one"),
    ],
)
def test_impossible_settings_are_configuration_errors(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        build(**settings)
