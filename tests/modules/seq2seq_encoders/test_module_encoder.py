"""Encoders that hold a plain PyTorch module, as configurations name them."""

import json
import re

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import ComposeEncoder, Seq2SeqEncoder

from allennlp_sentmatch.modules import seq2seq_encoders
from allennlp_sentmatch.modules.seq2seq_encoders.module_encoder import ModuleEncoder
from allennlp_sentmatch.nn import LSTMN, CellAwareLSTM, RecurrentlyControlledRNN, SuffixBiLSTM

KINDS = {
    "cas_lstm": (seq2seq_encoders.CasLstmEncoder, CellAwareLSTM),
    "subilstm": (seq2seq_encoders.SubilstmEncoder, SuffixBiLSTM),
    "rcrn": (seq2seq_encoders.RcrnEncoder, RecurrentlyControlledRNN),
    "lstmn": (seq2seq_encoders.LstmnEncoder, LSTMN),
}
MASK = torch.tensor([[True, True, True], [True, False, False]])


def from_json(name: str, **settings) -> Seq2SeqEncoder:
    settings = {"type": name, "input_size": 4, "hidden_size": 3, **settings}
    return Seq2SeqEncoder.from_params(Params(json.loads(json.dumps(settings))))


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


@pytest.mark.parametrize(
    ("name", "settings", "output_size", "bidirectional"),
    [
        ("cas_lstm", {"num_layers": 3, "bidirectional": True, "dropout": 0.25}, 6, True),
        ("cas_lstm", {"vertical_weight": 0.3}, 3, False),
        ("cas_lstm", {"vertical_weight": "trainable"}, 3, False),
        ("cas_lstm", {"vertical_weight": None}, 3, False),
        ("cas_lstm", {"vertical_gate": "peephole"}, 3, False),
        ("subilstm", {"tied": False, "cell": "gru", "max_context": 2}, 6, True),
        ("subilstm", {"combination": "concat", "max_context": None}, 12, True),
        ("rcrn", {"cell": "gru", "output_gate": "identity"}, 6, True),
        ("rcrn", {"bidirectional": False}, 3, False),
        ("lstmn", {"attention_size": 5, "bidirectional": True}, 6, True),
        ("lstmn", {"attention_size": None}, 3, False),
    ],
)
def test_is_the_module_of_its_settings(name, settings, output_size, bidirectional):
    encoder = from_json(name, **settings).eval()
    encoder_class, module_class = KINDS[name]
    assert isinstance(encoder, encoder_class)
    twin = module_class(4, 3, **settings).eval()
    assert repr(encoder.module) == repr(twin)
    twin.load_state_dict(encoder.module.state_dict())
    inputs = torch.randn(2, 3, 4)
    torch.testing.assert_close(encoder(inputs, MASK), twin(inputs, MASK))
    assert (encoder.get_input_dim(), encoder.get_output_dim()) == (4, output_size)
    assert encoder.is_bidirectional() == bidirectional


@pytest.mark.parametrize(
    ("name", "defaults"),
    [
        ("cas_lstm", "num_layers=2, bidirectional=False, vertical_weight=0.5, .*'hidden'.*=0.0"),
        ("subilstm", "tied=True, combination='max', cell='lstm', max_context=None"),
        ("rcrn", "cell='lstm', bidirectional=True, output_gate='sigmoid'"),
        ("lstmn", "attention_size=3, bidirectional=False"),
    ],
)
def test_has_the_defaults_of_the_paper(name, defaults):
    assert re.fullmatch(f"4, 3, {defaults}", from_json(name).module.extra_repr())


@pytest.mark.parametrize("name", KINDS)
def test_impossible_and_unknown_settings_are_configuration_errors(name):
    with pytest.raises(ConfigurationError, match="hidden_size must be at least 1, got 0"):
        from_json(name, hidden_size=0)
    with pytest.raises(ConfigurationError, match="layers"):
        from_json(name, layers=2)


def test_all_of_them_compose():
    encoders = [
        {"type": "cas_lstm", "input_size": 4, "hidden_size": 3, "bidirectional": True},
        {"type": "subilstm", "input_size": 6, "hidden_size": 2},
        {"type": "rcrn", "input_size": 4, "hidden_size": 5},
        {"type": "lstmn", "input_size": 10, "hidden_size": 3, "bidirectional": True},
    ]
    encoder = Seq2SeqEncoder.from_params(Params({"type": "compose", "encoders": encoders}))
    assert isinstance(encoder, ComposeEncoder)
    assert encoder(torch.randn(2, 3, 4), MASK).shape == (2, 3, 6)
