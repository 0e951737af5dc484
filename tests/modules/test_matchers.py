"""The matchers as configurations name them. Their mathematics is tested in tests/nn."""

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.modules import Matcher
from allennlp_sentmatch.nn import matching

NAMES = ["concat", "heuristic", "heuristic_difference", "symmetric", "sum_difference"]


def make(**settings) -> Matcher:
    torch.manual_seed(0)
    return Matcher.from_params(Params({"input_size": 3, **settings}))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_stands_for_its_function(name):
    matcher = make(type=name)
    a = torch.randn(2, 3)
    b = torch.randn(2, 3)
    assert torch.equal(matcher(a, b), getattr(matching, name)(a, b))
    assert matcher.get_input_dim() == 3
    assert matcher.get_output_dim() == matcher(a, b).size(-1)
    assert not list(matcher.parameters())


def test_all_names_are_registered():
    assert sorted(Matcher.list_available()) == sorted([*NAMES, "elbis", "highway", "mfb", "mlb"])


def highway(x, layers):
    """Srivastava et al. 2015, equation 3; the second half of a layer is the carry gate 1 - T."""
    for layer in layers:
        h, carry = (layer.weight @ x + layer.bias).chunk(2)
        carry = carry.sigmoid()
        x = (1 - carry) * h.relu() + carry * x
    return x


@pytest.mark.parametrize("hidden_size", [None, 5])
def test_highway_s_equations(hidden_size):
    matcher = make(type="highway", hidden_size=hidden_size)
    a, b = torch.randn(2, 4, 3)
    features = matcher(a, b)
    assert features.shape == (4, matcher.get_output_dim())
    assert matcher.get_output_dim() == (hidden_size or 12)
    for row in range(4):
        x = torch.cat([a[row], b[row], a[row] - b[row], a[row] * b[row]])
        if hidden_size is not None:
            x = matcher._projection.weight @ x + matcher._projection.bias
        torch.testing.assert_close(features[row], highway(x, matcher._highway._layers))
    assert len(matcher._highway._layers) == 2
    assert matcher.get_input_dim() == 3


def test_highway_with_another_matcher_inside():
    inner = {"type": "elbis", "num_interactions": 2}
    matcher = make(type="highway", matcher=inner, num_layers=1)
    assert matcher(torch.randn(4, 3), torch.randn(4, 3)).shape == (4, 6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"type": "concat", "input_size": 0}, "input_size must be an integer of at least 1; got 0"),
        (
            {"type": "highway", "hidden_size": 0},
            "hidden_size must be an integer of at least 1; got 0",
        ),
        (
            {"type": "highway", "num_layers": 0},
            "num_layers must be an integer of at least 1; got 0",
        ),
        (
            {"type": "highway", "matcher": {"type": "concat", "input_size": 4}},
            "input_size of Matcher must be 3, .* 4: leave it out",
        ),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        make(**settings)
