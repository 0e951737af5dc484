"""The matchers as configurations name them. Their mathematics is tested in tests/nn."""

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary

from allennlp_sentmatch.modules import Matcher
from allennlp_sentmatch.nn import matching
from tests.models.samples import construct

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
    assert sorted(Matcher.list_available()) == sorted([*NAMES, "elbis", "highway", "mfb", "mlb"])


def highway_matcher(**params) -> Matcher:
    torch.manual_seed(0)
    return Matcher.from_params(Params({"type": "highway", "input_size": 3, **params}))


def highway(x, layers):
    """Srivastava et al. 2015, equation 3; the second half of a layer is the carry gate 1 - T."""
    for layer in layers:
        h, carry = (layer.weight @ x + layer.bias).chunk(2)
        carry = carry.sigmoid()
        x = (1 - carry) * h.relu() + carry * x
    return x


@pytest.mark.parametrize("hidden_size", [None, 5])
def test_highway_s_equations(hidden_size):
    matcher = highway_matcher(hidden_size=hidden_size)
    a, b = torch.randn(2, 4, 3)
    features = matcher(a, b)
    assert features.shape == (4, hidden_size or 12) == (4, matcher.get_output_dim())
    for row in range(4):
        x = torch.cat([a[row], b[row], a[row] - b[row], a[row] * b[row]])
        if hidden_size is not None:
            x = matcher._projection.weight @ x + matcher._projection.bias
        torch.testing.assert_close(features[row], highway(x, matcher._highway._layers))
    assert len(matcher._highway._layers) == 2
    assert matcher.get_input_dim() == 3


def test_highway_with_another_matcher_inside():
    matcher = highway_matcher(matcher={"type": "elbis", "num_interactions": 2}, num_layers=1)
    assert matcher(torch.randn(4, 3), torch.randn(4, 3)).shape == (4, 6)


def test_highway_in_a_model_that_fills_in_the_size():
    vocab = Vocabulary(tokens_to_add={"labels": ["yes", "no"], "tokens": ["a"]})
    model = construct(
        vocab,
        "siamese_classifier",
        encoder={"type": "boe", "embedding_dim": 4},
        matcher={"type": "highway", "hidden_size": 7},
        classifier={"num_layers": 0, "batch_norm": False},
    )
    tokens = {"tokens": {"tokens": torch.tensor([[2]])}}
    model(tokens, tokens, label=torch.tensor([0]))["loss"].backward()
    assert all(p.grad is not None for p in model._matcher.parameters())
    assert model._classifier.output_layer.in_features == 7


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"type": "concat", "input_size": 0}, "input_size must be at least 1, got 0"),
        ({"type": "highway", "hidden_size": 0}, "hidden_size must be at least 1, got 0"),
        ({"type": "highway", "num_layers": 0}, "num_layers must be at least 1, got 0"),
        (
            {"type": "highway", "matcher": {"type": "concat", "input_size": 4}},
            "input_size of the matcher",
        ),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        Matcher.from_params(Params({"input_size": 3, **settings}))
