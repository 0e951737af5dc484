import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.modules.configuration_errors import configuration_errors


def test_a_value_error_becomes_a_configuration_error():
    message = "hidden_size must be at least 1, got 0"
    with pytest.raises(ConfigurationError, match=message) as caught, configuration_errors():
        raise ValueError(message)
    assert isinstance(caught.value.__cause__, ValueError)


def test_other_errors_pass():
    with pytest.raises(KeyError), configuration_errors():
        raise KeyError("hidden_size")
