import json

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2vec_encoders import Seq2VecEncoder

from allennlp_sentmatch.modules.seq2vec_encoders import GumbelTreeLstmEncoder
from allennlp_sentmatch.nn import GumbelTreeLSTM


def from_json(**settings) -> Seq2VecEncoder:
    settings = {"type": "gumbel_tree_lstm", "input_size": 4, "hidden_size": 3, **settings}
    return Seq2VecEncoder.from_params(Params(json.loads(json.dumps(settings))))


@pytest.mark.parametrize("leaf", ["lstm", "bilstm", "affine"])
def test_is_the_module_of_its_settings(leaf):
    encoder = from_json(leaf=leaf, temperature=0.5).eval()
    assert isinstance(encoder, GumbelTreeLstmEncoder)
    assert encoder.module.temperature == 0.5
    twin = GumbelTreeLSTM(4, 3, leaf=leaf).eval()
    twin.load_state_dict(encoder.module.state_dict())
    inputs, mask = torch.randn(2, 5, 4), torch.ones(2, 5, dtype=torch.bool)
    torch.testing.assert_close(encoder(inputs, mask), twin(inputs, mask))
    torch.testing.assert_close(encoder(inputs), twin(inputs, mask))
    assert encoder.get_input_dim() == 4
    assert encoder.get_output_dim() == (6 if leaf == "bilstm" else 3)


def test_has_the_defaults_of_the_paper():
    module = from_json().module
    assert isinstance(module.leaf, torch.nn.LSTM)
    assert module.temperature == 1.0


@pytest.mark.parametrize(("setting", "value"), [("leaf", "gru"), ("temperature", 0.0)])
def test_impossible_settings_are_configuration_errors(setting, value):
    with pytest.raises(ConfigurationError, match=f"{setting} must be .*{value}"):
        from_json(**{setting: value})
