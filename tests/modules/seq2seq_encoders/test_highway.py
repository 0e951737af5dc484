import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.seq2seq_encoders import HighwayEncoder

MASK = torch.tensor([[True, True, True], [True, False, False], [False, False, False]])


def build(**settings) -> Seq2SeqEncoder:
    torch.manual_seed(0)
    return Seq2SeqEncoder.from_params(Params({"type": "highway", "input_size": 4, **settings}))


@pytest.mark.parametrize("num_layers", [1, 3])
def test_applies_highway_layers_to_each_position(num_layers):
    """Srivastava et al. (2015): y = g * x + (1 - g) * relu(A x), with g = sigmoid(B x)."""
    encoder = build(num_layers=num_layers).double()
    inputs = torch.randn(3, 3, 4, dtype=torch.float64)
    outputs = encoder(inputs, MASK)
    weights = list(encoder.state_dict().values())
    assert len(weights) == 2 * num_layers
    for row, step in MASK.nonzero().tolist():
        y = inputs[row, step]
        for weight, bias in zip(weights[::2], weights[1::2]):
            a, b = (weight @ y + bias).chunk(2)
            y = torch.sigmoid(b) * y + (1 - torch.sigmoid(b)) * torch.relu(a)
        torch.testing.assert_close(outputs[row, step], y, rtol=0, atol=1e-9)
    assert (outputs[~MASK] == 0).all()


def test_has_two_layers_and_one_direction_by_default():
    encoder = build()
    assert isinstance(encoder, HighwayEncoder)
    assert len(list(encoder.parameters())) == 4
    assert (encoder.get_input_dim(), encoder.get_output_dim()) == (4, 4)
    assert not encoder.is_bidirectional()


def test_nothing_in_the_padding_matters():
    encoder = build()
    inputs = torch.randn(3, 3, 4).masked_fill(~MASK.unsqueeze(-1), float("nan")).requires_grad_()
    outputs = encoder(inputs, MASK)
    torch.testing.assert_close(outputs[0], encoder(inputs[:1])[0])
    outputs.sum().backward()
    assert (inputs.grad[~MASK] == 0).all()
    for parameter in encoder.parameters():
        assert torch.isfinite(parameter.grad).all()


@pytest.mark.parametrize(("setting", "value"), [("input_size", 0), ("num_layers", 0)])
def test_impossible_settings_are_configuration_errors(setting, value):
    with pytest.raises(ConfigurationError, match=f"{setting} must be at least 1, got {value}"):
        build(**{setting: value})
