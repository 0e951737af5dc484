import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import Seq2SeqEncoder


def from_json(**settings) -> Seq2SeqEncoder:
    return Seq2SeqEncoder.from_params(Params({"input_size": 4, "hidden_size": 3, **settings}))


@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_is_allennlp_s_encoder(cell, bidirectional):
    settings = {"num_layers": 2, "bidirectional": bidirectional, "dropout": 0.4}
    encoder = from_json(type="stacked_rnn", cell=cell, **settings).eval()
    theirs = from_json(type=cell, **settings).eval()
    assert encoder.module.network.dropout == theirs._module.dropout == 0.4
    encoder.module.network.load_state_dict(theirs._module.state_dict())
    inputs, mask = torch.randn(2, 5, 4), torch.arange(5) < torch.tensor([[5], [2]])
    torch.testing.assert_close(encoder(inputs, mask), theirs(inputs, mask), atol=1e-5, rtol=0)
    assert encoder.get_input_dim() == theirs.get_input_dim()
    assert encoder.get_output_dim() == theirs.get_output_dim()
    assert encoder.is_bidirectional() == theirs.is_bidirectional()


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_has_allennlp_s_defaults(cell):
    encoder, theirs = from_json(type="stacked_rnn", cell=cell), from_json(type=cell)
    encoder.module.network.load_state_dict(theirs._module.state_dict())
    assert not encoder.is_bidirectional()
    assert encoder.get_output_dim() == theirs.get_output_dim() == 3


def test_impossible_settings_are_configuration_errors():
    with pytest.raises(ConfigurationError, match=r"cell must be .*'rnn'"):
        from_json(type="stacked_rnn", cell="rnn")
