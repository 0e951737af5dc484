import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.modules.dropout import dropout_layer


def test_the_probability_of_a_setting():
    assert dropout_layer("embedding_dropout", 0.3).p == 0.3
    with pytest.raises(
        ConfigurationError, match=r"^embedding_dropout must be .* below 1, got 1.0$"
    ):
        dropout_layer("embedding_dropout", 1.0)
