import json

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.seq2seq_encoders import RcrnEncoder
from allennlp_sentmatch.nn import RecurrentlyControlledRNN


def from_json(**settings) -> Seq2SeqEncoder:
    settings = {"type": "rcrn", "input_size": 4, "hidden_size": 3, **settings}
    return Seq2SeqEncoder.from_params(Params(json.loads(json.dumps(settings))))


@pytest.mark.parametrize("bidirectional", [True, False])
def test_is_the_module_of_its_settings(bidirectional):
    settings = {"cell": "gru", "bidirectional": bidirectional, "output_gate": "identity"}
    encoder = from_json(**settings)
    assert isinstance(encoder, RcrnEncoder)
    twin = RecurrentlyControlledRNN(4, 3, **settings)
    twin.load_state_dict(encoder.module.state_dict())
    inputs, mask = torch.randn(2, 5, 4), torch.ones(2, 5, dtype=torch.bool)
    torch.testing.assert_close(encoder(inputs, mask), twin(inputs, mask))
    assert encoder.get_output_dim() == (6 if bidirectional else 3)
    assert encoder.is_bidirectional() == bidirectional


def test_has_the_defaults_of_the_paper():
    module = from_json().module
    assert isinstance(module.listener, torch.nn.LSTM)
    assert module.bidirectional
    assert module.output_gate == "sigmoid"


@pytest.mark.parametrize(("setting", "value"), [("cell", "rnn"), ("output_gate", "tanh")])
def test_impossible_settings_are_configuration_errors(setting, value):
    with pytest.raises(ConfigurationError, match=f"{setting} must be .*{value}"):
        from_json(**{setting: value})
