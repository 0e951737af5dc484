"""A pooled encoder pools as AllenNLP's do, and loads its earlier weights."""

import json

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.seq2seq_encoders import PassThroughEncoder, Seq2SeqEncoder
from allennlp.modules.seq2vec_encoders import Seq2VecEncoder
from allennlp.modules.token_embedders import Embedding, TokenCharactersEncoder
from allennlp.nn.util import get_final_encoder_states, masked_max, masked_mean

from allennlp_sentmatch.modules.seq2vec_encoders import PooledEncoder

INPUTS = torch.randn(3, 3, 4, generator=torch.Generator().manual_seed(0))
MASK = torch.tensor([[True, True, True], [True, False, False], [True, True, False]])
ATTENTION = ("attention_projection.weight", "attention_projection.bias", "attention_vector")
LSTM = {
    "type": "lstm",
    "input_size": 4,
    "hidden_size": 3,
    "bidirectional": True,
}


def pooled_lstm(**settings) -> Seq2VecEncoder:
    torch.manual_seed(0)
    settings = {"type": "pooled", "encoder": LSTM, **settings}
    return Seq2VecEncoder.from_params(Params(json.loads(json.dumps(settings))))


@pytest.mark.parametrize("bidirectional", [True, False])
def test_pools_the_encoder_s_outputs_as_allennlp_does(bidirectional):
    lstm = {**LSTM, "bidirectional": bidirectional}
    encoder = pooled_lstm(encoder=lstm, pooling=["last", "max", "mean"])
    assert isinstance(encoder, PooledEncoder)
    steps = encoder.encoder(INPUTS, MASK)
    expected = [
        get_final_encoder_states(steps, MASK, bidirectional),
        masked_max(steps, MASK.unsqueeze(-1), dim=1),
        masked_mean(steps, MASK.unsqueeze(-1), dim=1),
    ]
    torch.testing.assert_close(encoder(INPUTS, MASK), torch.cat(expected, -1))
    assert encoder.get_input_dim() == 4
    assert encoder.get_output_dim() == 3 * steps.size(2)


def test_attention_is_its_own_and_can_be_had():
    encoder = pooled_lstm(pooling=["attention", "min"])
    own = {name for name, _ in encoder.named_parameters() if not name.startswith("encoder.")}
    assert own == {f"pooling.{name}" for name in ATTENTION}
    pooled, internals = encoder(INPUTS, MASK, return_internals=True)
    weights = internals["pooling_attention"]
    steps = encoder.encoder(INPUTS, MASK)
    torch.testing.assert_close(pooled[:, :6], torch.einsum("bt,bte->be", weights, steps))
    torch.testing.assert_close(weights.sum(1), torch.ones(3))


def test_loads_weights_from_when_it_was_a_pooling_itself():
    encoder = pooled_lstm(pooling="attention")
    loaded = pooled_lstm(pooling="attention")
    weights = {name: torch.randn(x.shape) for name, x in encoder.state_dict().items()}
    saved = {f"inner.{name.removeprefix('pooling.')}": x for name, x in weights.items()}
    assert {f"inner.{name}" for name in ATTENTION} < saved.keys()
    # Within another module, as in a model, and strictly.
    torch.nn.ModuleDict({"inner": loaded}).load_state_dict(saved)
    for name, weight in weights.items():
        assert torch.equal(loaded.state_dict()[name], weight)


def test_defaults_empty_sentence_and_no_mask():
    encoder = pooled_lstm()
    assert encoder.pooling.poolings == ("max",)
    pooled = encoder(INPUTS, MASK & torch.tensor([[True], [False], [True]]))
    assert (pooled[1] == 0).all()
    torch.testing.assert_close(pooled[0], encoder(INPUTS)[0])


def test_impossible_settings_are_configuration_errors():
    with pytest.raises(ConfigurationError, match=r"pooling must be one of max, .*; got 'sum'"):
        pooled_lstm(pooling="sum")


def test_only_last_asks_for_the_directions_of_an_encoder():
    """An encoder of another package need not have `is_bidirectional`."""

    class Doubled(PassThroughEncoder):
        is_bidirectional = Seq2SeqEncoder.is_bidirectional

        def forward(self, inputs, mask):
            return 2 * inputs

    expected = masked_max(2 * INPUTS, MASK.unsqueeze(-1), dim=1)
    assert PooledEncoder(Doubled(4))(INPUTS, MASK).equal(expected)
    with pytest.raises(NotImplementedError):
        PooledEncoder(Doubled(4), ["max", "last"])


@pytest.mark.parametrize(
    "encoder",
    [
        {"type": "pooled", "encoder": {"type": "cas_lstm", "input_size": 4, "hidden_size": 3}},
        {"type": "pooled", "encoder": {"type": "highway", "input_size": 4}},
        {"type": "gumbel_tree_lstm", "input_size": 4, "hidden_size": 3},
    ],
    ids=str,
)
def test_encodes_the_characters_of_words(encoder):
    """The masks of AllenNLP's `character_encoding` are integers."""
    encoder = Seq2VecEncoder.from_params(Params(encoder)).eval()
    embedder = TokenCharactersEncoder(Embedding(embedding_dim=4, num_embeddings=9), encoder).eval()
    characters = torch.tensor([[[3, 1, 8], [5, 6, 0]], [[2, 0, 0], [0, 0, 0]]])
    for row, words in zip(characters, embedder(characters)):
        for word, vector in zip(row, words):
            alone = embedder._embedding._module(word[word > 0].unsqueeze(0))
            torch.testing.assert_close(vector, encoder(alone)[0])
