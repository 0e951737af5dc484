"""The interface of encoders that hold a plain PyTorch module."""

import json

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import ComposeEncoder, Seq2SeqEncoder

import allennlp_sentmatch.modules  # noqa: F401  (registers the encoders)
from allennlp_sentmatch.modules.seq2seq_encoders.module_encoder import ModuleEncoder
from allennlp_sentmatch.nn import LSTMN

NAMES = ["cas_lstm", "subilstm", "rcrn", "lstmn"]
MASK = torch.tensor([[True, True, True], [True, False, False]])


def from_json(text: str) -> Seq2SeqEncoder:
    return Seq2SeqEncoder.from_params(Params(json.loads(text)))


def test_hands_inputs_and_mask_to_its_module():
    module = LSTMN(4, 3, bidirectional=True)
    encoder = ModuleEncoder(module)
    inputs = torch.randn(2, 3, 4)
    torch.testing.assert_close(encoder(inputs, MASK), module(inputs, MASK))
    assert (encoder.get_input_dim(), encoder.get_output_dim()) == (4, 6)
    assert encoder.is_bidirectional()


def test_without_a_mask_nothing_is_padding():
    encoder = ModuleEncoder(LSTMN(4, 3))
    inputs = torch.randn(2, 3, 4)
    everything = torch.ones(2, 3, dtype=torch.bool)
    torch.testing.assert_close(encoder(inputs), encoder(inputs, everything))


@pytest.mark.parametrize("name", NAMES)
def test_sizes_alone_are_enough(name):
    encoder = from_json(f'{{"type": "{name}", "input_size": 4, "hidden_size": 3}}')
    outputs = encoder(torch.randn(2, 3, 4), MASK)
    assert encoder.get_input_dim() == 4
    assert outputs.shape == (2, 3, encoder.get_output_dim())
    assert (outputs[1, 1:] == 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_impossible_settings_are_configuration_errors(name):
    with pytest.raises(ConfigurationError, match="hidden_size must be at least 1, got 0"):
        from_json(f'{{"type": "{name}", "input_size": 4, "hidden_size": 0}}')


@pytest.mark.parametrize("name", NAMES)
def test_unknown_settings_are_configuration_errors(name):
    with pytest.raises(ConfigurationError, match="layers"):
        from_json(f'{{"type": "{name}", "input_size": 4, "hidden_size": 3, "layers": 2}}')


def test_all_of_them_compose():
    encoders = [
        '{"type": "cas_lstm", "input_size": 4, "hidden_size": 3, "bidirectional": true}',
        '{"type": "subilstm", "input_size": 6, "hidden_size": 2}',
        '{"type": "rcrn", "input_size": 4, "hidden_size": 5}',
        '{"type": "lstmn", "input_size": 10, "hidden_size": 3, "bidirectional": true}',
    ]
    encoder = from_json(f'{{"type": "compose", "encoders": [{", ".join(encoders)}]}}')
    assert isinstance(encoder, ComposeEncoder)
    assert encoder(torch.randn(2, 3, 4), MASK).shape == (2, 3, 6)
