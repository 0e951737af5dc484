import json

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.seq2seq_encoders import SubilstmEncoder
from allennlp_sentmatch.nn import SuffixBiLSTM


def from_json(**settings) -> Seq2SeqEncoder:
    settings = {"type": "subilstm", "input_size": 4, "hidden_size": 3, **settings}
    return Seq2SeqEncoder.from_params(Params(json.loads(json.dumps(settings))))


@pytest.mark.parametrize("combination", ["max", "mean", "concat", "gate"])
def test_is_the_module_of_its_settings(combination):
    settings = {"tied": False, "combination": combination, "cell": "gru", "max_context": 2}
    encoder = from_json(**settings)
    assert isinstance(encoder, SubilstmEncoder)
    twin = SuffixBiLSTM(4, 3, **settings)
    twin.load_state_dict(encoder.module.state_dict())
    inputs, mask = torch.randn(2, 5, 4), torch.ones(2, 5, dtype=torch.bool)
    torch.testing.assert_close(encoder(inputs, mask), twin(inputs, mask))
    assert encoder.get_output_dim() == (12 if combination == "concat" else 6)
    assert encoder.is_bidirectional()


def test_has_the_defaults_of_the_paper():
    module = from_json().module
    assert (module.tied, module.combination, module.cell) == (True, "max", "lstm")
    assert module.max_context is None
    assert from_json(max_context=None).module.max_context is None


@pytest.mark.parametrize(
    ("setting", "value"), [("combination", "sum"), ("cell", "rnn"), ("max_context", 0)]
)
def test_impossible_settings_are_configuration_errors(setting, value):
    with pytest.raises(ConfigurationError, match=f"{setting} must be .*{value}"):
        from_json(**{setting: value})
