import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.modules import SemanticConstraints


def test_from_params():
    params = Params({"names": ["mu", "y"], "temperature_rate": 0.2, "straight_through": True})
    constraints = SemanticConstraints.from_params(params)
    assert constraints.names == ("mu", "y")
    assert constraints.straight_through
    constraints.temperature.advance()
    assert constraints.temperature() == pytest.approx(0.8)


def test_bad_settings():
    with pytest.raises(ConfigurationError, match="constraints are"):
        SemanticConstraints.from_params(Params({"names": ["x"]}))
