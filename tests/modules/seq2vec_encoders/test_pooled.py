import json

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2vec_encoders import LstmSeq2VecEncoder, Seq2VecEncoder
from allennlp.nn.util import get_final_encoder_states, masked_max, masked_mean

from allennlp_sentmatch.modules.seq2vec_encoders import PooledEncoder

MASK = torch.tensor([[True, True, True], [True, False, False], [True, True, False]])
ATTENTION = ("attention_projection.weight", "attention_projection.bias", "attention_vector")
LSTM = {"type": "lstm", "input_size": 4, "hidden_size": 3, "bidirectional": True}


def from_json(**settings) -> Seq2VecEncoder:
    torch.manual_seed(0)
    settings = {"type": "pooled", "encoder": LSTM, **settings}
    return Seq2VecEncoder.from_params(Params(json.loads(json.dumps(settings))))


def test_pools_the_encoder_s_outputs_as_allennlp_does():
    encoder = from_json(pooling=["last", "max", "mean"])
    assert isinstance(encoder, PooledEncoder)
    inputs = torch.randn(3, 3, 4)
    steps = encoder.encoder(inputs, MASK)
    expected = [
        get_final_encoder_states(steps, MASK, bidirectional=True),
        masked_max(steps, MASK.unsqueeze(-1), dim=1),
        masked_mean(steps, MASK.unsqueeze(-1), dim=1),
    ]
    torch.testing.assert_close(encoder(inputs, MASK), torch.cat(expected, -1))
    assert (encoder.get_input_dim(), encoder.get_output_dim()) == (4, 18)


def test_the_last_state_is_that_of_allennlp_s_lstm():
    encoder = from_json(pooling="last")
    lstm = LstmSeq2VecEncoder(4, 3, bidirectional=True)
    lstm._module.load_state_dict(encoder.encoder._module.state_dict())
    inputs = torch.randn(3, 3, 4)
    torch.testing.assert_close(encoder(inputs, MASK), lstm(inputs, MASK))


def test_takes_one_direction_s_last_state_whole():
    encoder = from_json(encoder={**LSTM, "bidirectional": False}, pooling="last")
    inputs = torch.randn(3, 3, 4)
    steps = encoder.encoder(inputs, MASK)
    last = steps[torch.arange(3), torch.tensor([2, 0, 1])]
    torch.testing.assert_close(encoder(inputs, MASK), last)


def test_attention_is_its_own_and_can_be_had():
    encoder = from_json(pooling=["attention", "min"])
    own = {name for name, _ in encoder.named_parameters() if not name.startswith("encoder.")}
    assert own == {f"pooling.{name}" for name in ATTENTION}
    inputs = torch.randn(3, 3, 4)
    pooled, internals = encoder(inputs, MASK, return_internals=True)
    weights = internals["pooling_attention"]
    steps = encoder.encoder(inputs, MASK)
    torch.testing.assert_close(pooled[:, :6], torch.einsum("bt,bte->be", weights, steps))
    torch.testing.assert_close(weights.sum(1), torch.ones(3))


def test_loads_weights_from_when_it_was_a_pooling_itself():
    encoder, loaded = from_json(pooling="attention"), from_json(pooling="attention")
    saved = {
        name[len("pooling.") :] if name.startswith("pooling.") else name: torch.randn(value.shape)
        for name, value in encoder.state_dict().items()
    }
    assert set(ATTENTION) < saved.keys()
    # In another module, as in a model, and strictly.
    torch.nn.ModuleDict({"inner": loaded}).load_state_dict(
        {f"inner.{name}": value for name, value in saved.items()}
    )
    for name in ATTENTION:
        assert torch.equal(loaded.state_dict()[f"pooling.{name}"], saved[name])
    assert torch.equal(loaded.encoder._module.weight_hh_l0, saved["encoder._module.weight_hh_l0"])


def test_empty_sentence_and_no_mask():
    encoder = from_json()
    inputs = torch.randn(2, 3, 4)
    mask = torch.tensor([[True, True, True], [False, False, False]])
    pooled = encoder(inputs, mask)
    assert (pooled[1] == 0).all()
    torch.testing.assert_close(pooled[0], encoder(inputs)[0])


def test_pools_by_maximum_by_default():
    assert from_json().pooling.poolings == ("max",)


def test_impossible_settings_are_configuration_errors():
    with pytest.raises(ConfigurationError, match=r"pooling must be one of max, .*; got 'sum'"):
        from_json(pooling="sum")
    with pytest.raises(ConfigurationError, match="pooling must name at least one"):
        from_json(pooling=[])
