import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.modules import PairEncoder
from allennlp_sentmatch.nn import LSTMNInterAttention, LSTMNPair, LSTMPair, PairReader


def pair_encoder(**settings) -> PairReader:
    return PairEncoder.from_params(Params({"hidden_size": 3, **settings}), input_size=4).module


@pytest.mark.parametrize(
    ("name", "module"),
    [("lstm", LSTMPair), ("lstmn", LSTMNPair), ("lstmn_inter_attention", LSTMNInterAttention)],
)
def test_from_params(name, module):
    encoder = pair_encoder(type=name)
    assert type(encoder) is module
    assert (encoder.input_size, encoder.hidden_size, encoder.output_size) == (4, 3, 3)
    mask = torch.tensor([[True, True], [True, False]])
    vectors, attention = encoder(
        torch.randn(2, 2, 4), mask, torch.randn(2, 2, 4), mask, return_attention=True
    )
    assert vectors.shape == (2, 3)
    assert (attention.inter is not None) == (name == "lstmn_inter_attention")


def test_settings_arrive():
    assert pair_encoder(type="lstmn", attention_size=5).attention_size == 5
    encoder = pair_encoder(attention_size=5, start_from_premise=True)
    assert isinstance(encoder, LSTMNInterAttention)  # the default
    assert encoder.attention_size == 5
    assert encoder.start_from_premise


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"type": "lstm", "hidden_size": 0}, "hidden_size must be at least 1, got 0"),
        ({"type": "lstmn", "attention_size": -1}, "attention_size must be at least 1, got -1"),
        ({"type": "lstm", "attention_size": 3}, "attention_size"),
        ({"type": "lstmn", "start_from_premise": True}, "start_from_premise"),
        ({"type": "gru"}, "gru not in acceptable choices for type"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ConfigurationError, match=message):
        pair_encoder(**settings)
