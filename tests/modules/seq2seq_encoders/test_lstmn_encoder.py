import json

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.seq2seq_encoders import LstmnEncoder
from allennlp_sentmatch.nn import LSTMN


def from_json(**settings) -> Seq2SeqEncoder:
    settings = {"type": "lstmn", "input_size": 4, "hidden_size": 3, **settings}
    return Seq2SeqEncoder.from_params(Params(json.loads(json.dumps(settings))))


@pytest.mark.parametrize("bidirectional", [True, False])
def test_is_the_module_of_its_settings(bidirectional):
    encoder = from_json(attention_size=5, bidirectional=bidirectional)
    assert isinstance(encoder, LstmnEncoder)
    twin = LSTMN(4, 3, attention_size=5, bidirectional=bidirectional)
    twin.load_state_dict(encoder.module.state_dict())
    inputs, mask = torch.randn(2, 5, 4), torch.ones(2, 5, dtype=torch.bool)
    torch.testing.assert_close(encoder(inputs, mask), twin(inputs, mask))
    assert encoder.get_output_dim() == (6 if bidirectional else 3)
    assert encoder.is_bidirectional() == bidirectional


def test_the_attention_is_as_wide_as_the_states_by_default():
    assert from_json().module.attention_vector.shape == (3,)
    assert from_json(attention_size=None).module.attention_vector.shape == (3,)
    assert not from_json().is_bidirectional()


def test_impossible_settings_are_configuration_errors():
    with pytest.raises(ConfigurationError, match="attention_size must be at least 1, got 0"):
        from_json(attention_size=0)
