"""The encoders inside AllenNLP's own models, configured as a user would."""

import json

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model

import allennlp_sentmatch.modules  # noqa: F401  (registers the encoders)

SEQUENCE_ENCODERS = {
    "cas_lstm": {"hidden_size": 3},
    "subilstm": {"hidden_size": 3},
    "rcrn": {"hidden_size": 3},
    "lstmn": {"hidden_size": 3, "bidirectional": True},
    "highway": {},
}


@pytest.fixture
def vocabulary() -> Vocabulary:
    vocabulary = Vocabulary()
    vocabulary.add_tokens_to_namespace(["a", "man", "sleeps", "runs"], "tokens")
    vocabulary.add_tokens_to_namespace(["entailment", "neutral"], "labels")
    return vocabulary


@pytest.fixture
def batch() -> dict:
    tokens = torch.tensor([[2, 3, 4, 0], [2, 3, 0, 0], [0, 0, 0, 0]])
    return {"tokens": {"tokens": {"tokens": tokens}}, "label": torch.tensor([0, 1, 0])}


def classifier(vocabulary: Vocabulary, **encoders: dict) -> Model:
    configuration = {
        "type": "basic_classifier",
        "text_field_embedder": {
            "token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 4}}
        },
        **encoders,
    }
    torch.manual_seed(0)
    return Model.from_params(Params(json.loads(json.dumps(configuration))), vocab=vocabulary)


def assert_trains(model: Model, batch: dict) -> None:
    output = model(**batch)
    assert torch.isfinite(output["logits"]).all()
    output["loss"].backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
    model.eval()
    alone = {"tokens": {"tokens": {"tokens": batch["tokens"]["tokens"]["tokens"][1:2, :2]}}}
    torch.testing.assert_close(model(**alone)["probs"][0], model(**batch)["probs"][1])


@pytest.mark.parametrize("name", SEQUENCE_ENCODERS)
def test_as_seq2seq_encoder(name, vocabulary, batch):
    encoder = {"type": name, "input_size": 4, **SEQUENCE_ENCODERS[name]}
    size = 4 if name == "highway" else 3 if name == "cas_lstm" else 6
    pooled = {"type": "boe", "embedding_dim": size}
    assert_trains(classifier(vocabulary, seq2seq_encoder=encoder, seq2vec_encoder=pooled), batch)


@pytest.mark.parametrize("name", SEQUENCE_ENCODERS)
def test_pooled_as_seq2vec_encoder(name, vocabulary, batch):
    encoder = {"type": name, "input_size": 4, **SEQUENCE_ENCODERS[name]}
    pooled = {"type": "pooled", "encoder": encoder, "pooling": ["max", "attention"]}
    assert_trains(classifier(vocabulary, seq2vec_encoder=pooled), batch)


@pytest.mark.parametrize("leaf", ["lstm", "bilstm", "affine"])
def test_gumbel_tree_lstm_as_seq2vec_encoder(leaf, vocabulary, batch):
    tree = {"type": "gumbel_tree_lstm", "input_size": 4, "hidden_size": 3, "leaf": leaf}
    assert_trains(classifier(vocabulary, seq2vec_encoder=tree), batch)
