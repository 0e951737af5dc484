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
RCRN = {
    "type": "rcrn",
    "input_size": 4,
    "hidden_size": 3,
}


def build(**settings) -> Seq2SeqEncoder:
    return Seq2SeqEncoder.from_params(Params(json.loads(json.dumps(settings))))


@pytest.mark.parametrize(
    "encoder",
    [RCRN, HIGHWAY, {"type": "sequential", "encoders": [HIGHWAY, RCRN]}],
    ids=lambda encoder: encoder["type"],
)
def test_without_a_mask_nothing_is_padding(encoder):
    encoder = build(**encoder)
    torch.testing.assert_close(encoder(INPUTS), encoder(INPUTS, torch.ones_like(MASK)))


@pytest.mark.parametrize(
    ("inputs", "mask", "error", "message"),
    [
        (INPUTS, MASK.long(), TypeError, r"^mask must be bool, .* call mask\.bool\(\)"),
        (INPUTS, MASK.float(), TypeError, "^mask must be bool"),
        (INPUTS, MASK.flip(1), ValueError, "^mask must be right-padded, but token 2 of sentence 1"),
        (INPUTS, MASK[:, :2], ValueError, r"^mask must have the shape .* \(3, 3\), got \(3, 2\)"),
        (INPUTS.long(), MASK, TypeError, "^inputs must be floating point numbers"),
        (INPUTS[:, :, :3], MASK, ValueError, r"^inputs must have the shape .* 4\), got"),
        (INPUTS[0], MASK, ValueError, "^inputs must have the shape"),
    ],
)
@pytest.mark.parametrize(
    "encoder",
    [
        HIGHWAY,
        {"type": "sequential", "encoders": [HIGHWAY, RCRN]},
        {"type": "sequential", "encoders": [{"type": "pass_through", "input_dim": 4}, HIGHWAY]},
        RCRN,
    ],
    ids=["highway", "sequential", "sequential_of_allennlp", "rcrn"],
)
def test_impossible_inputs_and_masks_are_named(encoder, inputs, mask, error, message):
    with pytest.raises(error, match=message):
        build(**encoder)(inputs, mask)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize(
    "settings",
    [{}, *({"num_layers": 2, "bidirectional": x, "dropout": 0.4} for x in (False, True))],
)
def test_stacked_rnn_is_allennlp_s_encoder(cell, settings):
    encoder = build(**(RCRN | settings | {"type": "stacked_rnn", "cell": cell})).eval()
    theirs = build(**(RCRN | settings | {"type": cell})).eval()
    assert encoder.module.network.dropout == settings.get("dropout", 0)
    assert theirs._module.dropout == settings.get("dropout", 0)
    encoder.module.network.load_state_dict(theirs._module.state_dict())
    torch.testing.assert_close(encoder(INPUTS, MASK), theirs(INPUTS, MASK), atol=1e-5, rtol=0)
    for name in ("get_input_dim", "get_output_dim", "is_bidirectional"):
        assert getattr(encoder, name)() == getattr(theirs, name)()


@pytest.mark.parametrize("settings", [{}, {"num_layers": 3}])
def test_highway_layers_are_applied_to_each_position(settings):
    """Srivastava et al. (2015): y = g * x + (1 - g) * relu(A x), with g = sigmoid(B x)."""
    encoder = build(**HIGHWAY, **settings).double()
    inputs = INPUTS.double()
    outputs = encoder(inputs, MASK)
    weights = list(encoder.state_dict().values())
    assert len(weights) == 2 * settings.get("num_layers", 2)
    for weight, bias in zip(weights[::2], weights[1::2]):
        a, b = (inputs @ weight.T + bias).chunk(2, dim=-1)
        inputs = torch.sigmoid(b) * inputs + (1 - torch.sigmoid(b)) * torch.relu(a)
    expected = inputs * MASK.unsqueeze(-1)
    torch.testing.assert_close(outputs, expected, rtol=0, atol=1e-9)


def test_nothing_in_the_padding_of_highway_layers_matters():
    encoder = build(**HIGHWAY)
    inputs = INPUTS.masked_fill(~MASK.unsqueeze(-1), float("nan")).requires_grad_()
    encoder(inputs, MASK).sum().backward()
    assert (inputs.grad[~MASK] == 0).all()
    for parameter in encoder.parameters():
        assert torch.isfinite(parameter.grad).all()


@pytest.mark.parametrize(
    ("encoders", "sizes", "bidirectional"),
    [
        ([HIGHWAY], (4, 4), False),
        ([HIGHWAY, RCRN], (4, 6), True),
        ([RCRN, {"type": "lstm", "input_size": 6, "hidden_size": 5}], (4, 5), False),
    ],
)
def test_sequential_encoders(encoders, sizes, bidirectional):
    """Each encoder reads the previous one's outputs; the first and last ones determine the sizes
    and the direction.
    """
    encoder = build(type="sequential", encoders=encoders)
    outputs = INPUTS
    for part in encoder.encoders:
        outputs = part(outputs, MASK)
    torch.testing.assert_close(encoder(INPUTS, MASK), outputs)
    assert (encoder.get_input_dim(), encoder.get_output_dim()) == sizes
    assert encoder.is_bidirectional() is bidirectional


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({**HIGHWAY, "input_size": 0}, "input_size must be an integer of at least 1; got 0"),
        ({**HIGHWAY, "num_layers": 0}, "num_layers must be an integer of at least 1; got 0"),
        ({"type": "sequential", "encoders": [RCRN, HIGHWAY]}, r"output dim of encoder 0.*6.*4"),
        ({"type": "sequential", "encoders": []}, "encoders is empty; list at least one"),
    ],
)
def test_impossible_settings_are_configuration_errors(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        build(**settings)
