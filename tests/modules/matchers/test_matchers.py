"""The matchers as configurations name them. Their mathematics is tested in tests/nn."""

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.modules import Matcher
from allennlp_sentmatch.nn import matching

NAMES = ["concat", "heuristic", "heuristic_difference", "symmetric", "sum_difference"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_stands_for_its_function(name):
    matcher = Matcher.from_params(Params({"type": name, "input_size": 3}))
    a, b = torch.randn(2, 3), torch.randn(2, 3)
    assert torch.equal(matcher(a, b), getattr(matching, name)(a, b))
    assert matcher.get_input_dim() == 3
    assert matcher.get_output_dim() == matcher(a, b).size(-1)
    assert not list(matcher.parameters())


def test_all_names_are_registered():
    assert sorted(Matcher.list_available()) == sorted([*NAMES, "elbis", "highway"])


def test_elbis_arguments():
    params = Params({"type": "elbis", "input_size": 3, "num_interactions": 2, "commutative": True})
    matcher = Matcher.from_params(params)
    a, b = torch.randn(4, 3), torch.randn(4, 3)
    assert matcher.get_output_dim() == 6
    assert matcher(a, b).shape == (4, 6)
    torch.testing.assert_close(matcher(a, b), matcher(b, a))
    assert sum(p.numel() for p in matcher.parameters()) == 2 * 3 * 9  # M * d * 3 * 3


@pytest.mark.parametrize(
    ("params", "setting"),
    [
        ({"type": "concat", "input_size": 0}, "input_size"),
        ({"type": "elbis", "input_size": 3, "num_interactions": 0}, "num_interactions"),
    ],
)
def test_impossible_settings(params, setting):
    with pytest.raises(ConfigurationError, match=setting):
        Matcher.from_params(Params(params))
