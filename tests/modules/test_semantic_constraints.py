"""Constraints are added up by their weights, in their order."""

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.modules import SemanticConstraints


def test_one_constraint_is_added_unweighted():
    constraints = SemanticConstraints(["z"])
    constraints.temperature.advance()
    assert constraints.temperature() == pytest.approx(1 - 1e-4)  # the thesis's rate
    assert list(constraints.parameters()) == []
    loss = torch.tensor(-3.0)
    assert constraints({"z": loss}) is loss


def test_several_are_weighted_in_their_order():
    constraints = SemanticConstraints(["mu", "y"])
    with torch.no_grad():
        constraints.weighting.log_variances.copy_(torch.tensor([0.0, 2.0]))
    value = constraints({"y": torch.tensor(4.0), "mu": torch.tensor(-1.0)})
    expected = -1.0 + 4.0 * torch.tensor(-2.0).exp().item() + 1.0
    assert value.item() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(
            ({"names": names}, r"^names must be some of y, z, mu, each once; got \[")
            for names in ([], ["w"], ["y", "y"])
        ),
        ({"max_length": 0}, "^max_length must be an integer of at least 1; got 0"),
        ({"temperature_rate": 0}, "^temperature_rate must be a number above 0; got 0"),
    ],
)
def test_impossible_settings(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        SemanticConstraints.from_params(Params({"names": ["y"], **settings}))
