import json

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder

from allennlp_sentmatch.modules.seq2seq_encoders import CasLstmEncoder
from allennlp_sentmatch.nn import CellAwareLSTM


def from_json(**settings) -> Seq2SeqEncoder:
    settings = {"type": "cas_lstm", "input_size": 4, "hidden_size": 3, **settings}
    return Seq2SeqEncoder.from_params(Params(json.loads(json.dumps(settings))))


@pytest.mark.parametrize("vertical_weight", [0.3, "trainable", None])
def test_is_the_module_of_its_settings(vertical_weight):
    encoder = from_json(
        num_layers=3, bidirectional=True, vertical_weight=vertical_weight, dropout=0.25
    )
    assert isinstance(encoder, CasLstmEncoder)
    assert encoder.module.dropout == 0.25
    twin = CellAwareLSTM(4, 3, 3, bidirectional=True, vertical_weight=vertical_weight, dropout=0.25)
    twin.load_state_dict(encoder.module.state_dict())
    inputs, mask = torch.randn(2, 5, 4), torch.ones(2, 5, dtype=torch.bool)
    torch.testing.assert_close(encoder.eval()(inputs, mask), twin.eval()(inputs, mask))
    assert encoder.get_output_dim() == 6
    assert encoder.is_bidirectional()


def test_peephole():
    encoder = from_json(vertical_gate="peephole")
    assert encoder.module.peephole_left_l1.shape == (3,)
    assert encoder.get_output_dim() == 3
    assert not encoder.is_bidirectional()


def test_has_the_defaults_of_the_paper():
    module = from_json().module
    assert (module.num_layers, module.vertical_weight, module.vertical_gate) == (2, 0.5, "hidden")


@pytest.mark.parametrize(
    ("setting", "value"),
    [("num_layers", 0), ("vertical_weight", 1.0), ("vertical_gate", "cell"), ("dropout", 2.0)],
)
def test_impossible_settings_are_configuration_errors(setting, value):
    with pytest.raises(ConfigurationError, match=f"{setting} must .*{value}"):
        from_json(**{setting: value})
