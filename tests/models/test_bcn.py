"""The biattentive classification network against its equations and allennlp-models' own."""

import copy
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.modules import Maxout

from allennlp_sentmatch.models import BiattentiveClassificationNetwork
from tests.models.model_contract import ClassifierContract

EMBEDDER = {"token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 4}}}
ENCODER = {"type": "lstm", "input_size": 5, "hidden_size": 3, "bidirectional": True}
INTEGRATOR = {"type": "lstm", "input_size": 18, "hidden_size": 2, "bidirectional": True}
TOKENS = {"tokens": {"tokens": torch.tensor([[2, 3, 4, 2], [2, 3, 0, 0]])}}


def from_params(vocab: Vocabulary, **params: Any) -> Model:
    torch.manual_seed(0)
    return Model.from_params(Params(copy.deepcopy(params)), vocab=vocab).eval()


def bcn(vocab: Vocabulary, **changes: Any) -> BiattentiveClassificationNetwork:
    params = {
        "type": "sentmatch_bcn",
        "text_field_embedder": EMBEDDER,
        "encoder": ENCODER,
        "integrator": INTEGRATOR,
        **changes,
    }
    return from_params(vocab, **params)


class TestBiattentiveClassificationNetwork(ClassifierContract):
    config = "bcn.jsonnet"
    json = {"sentence": "What is a crab ?"}
    text_keys = ("sentence",)

    def test_shows_its_attention(self):
        sentences = [{"sentence": "What is a crab ?"}, {"sentence": "Where ?"}]
        for output, length in zip(self.predictor.predict_batch_json(sentences), (5, 2)):
            assert [len(row) for row in output["attention"]] == [length] * length
            assert [sum(row) for row in output["attention"]] == pytest.approx([1.0] * length)
            assert len(output["pooling_attention"]) == length
            assert sum(output["pooling_attention"]) == pytest.approx(1.0)
            assert not any(key.endswith("_lengths") for key in output)

    def test_the_attention_of_a_very_long_sentence_is_left_out(self):
        output = self.predictor.predict("man " * 1001)
        assert output["attention"] == []
        assert len(output["pooling_attention"]) == 1001

    def test_encode_gives_the_features(self):
        tokens = self.dataset.as_tensor_dict()["tokens"]
        features = self.model.encode(tokens)
        assert features.shape == (8, 4 * 8)
        torch.testing.assert_close(
            self.model._output_layer(features), self.model(tokens)["label_logits"]
        )


def test_equations_of_one_sentence(vocab):
    """As the model's docstring has them, with the modules' own weights."""
    model = bcn(vocab).double()
    ids = torch.tensor([[2, 3, 4]])
    mask = torch.ones(1, 3).bool()
    (linear,) = model._pre_encode_feedforward._linear_layers
    x = model._text_field_embedder.token_embedder_tokens(ids)
    h = model._encoder(linear(x).relu(), mask)[0]
    a = torch.stack([torch.stack([torch.dot(p, q) for q in h]).softmax(0) for p in h])
    c = a @ h
    y = model._integrator(torch.cat([h, h - c, h * c], dim=-1)[None], mask)[0]
    b = model._self_attentive_pooling_projection(y)[:, 0].softmax(0)
    features = torch.cat([y.max(0).values, y.min(0).values, y.mean(0), b @ y])
    torch.testing.assert_close(
        model.encode({"tokens": {"tokens": ids}})[0], features, atol=1e-9, rtol=0
    )
    output = model({"tokens": {"tokens": ids}})
    torch.testing.assert_close(output["attention"][0], a, atol=1e-9, rtol=0)
    torch.testing.assert_close(output["pooling_attention"][0], b, atol=1e-9, rtol=0)


def test_maxout_network(vocab):
    """Two layers which keep the largest of 4 and of 2 units, then a linear one."""
    model = bcn(vocab)
    features = torch.randn(2, 16)
    first, second, last = model._output_layer._linear_layers
    hidden = first(features).view(2, 4, 4).max(dim=-1).values
    hidden = second(hidden).view(2, 2, 2).max(dim=-1).values
    torch.testing.assert_close(model._output_layer(features), last(hidden))


def test_equals_bcn_of_allennlp_models(vocab):
    pytest.importorskip("allennlp_models.classification")
    theirs = from_params(
        vocab,
        type="bcn",
        text_field_embedder=EMBEDDER,
        embedding_dropout=0.25,
        pre_encode_feedforward={
            "input_dim": 4,
            "num_layers": 1,
            "hidden_dims": 5,
            "activations": "relu",
        },
        encoder=ENCODER,
        integrator=INTEGRATOR,
        integrator_dropout=0.1,
        output_layer={
            "input_dim": 16,
            "num_layers": 3,
            "output_dims": [4, 2, 3],
            "pool_sizes": [4, 2, 1],
            "dropout": [0.2, 0.3, 0.0],
        },
    )
    ours = bcn(vocab, embedding_dropout=0.25, integrator_dropout=0.1, maxout_dropout=0.2)
    ours.load_state_dict(theirs.state_dict())
    label = torch.tensor([1, 2])
    expected, output = theirs.double()(TOKENS, label), ours.double()(TOKENS, label)
    for key, their_key in [
        ("label_logits", "logits"),
        ("label_probs", "class_probabilities"),
        ("loss", "loss"),
    ]:
        torch.testing.assert_close(output[key], expected[their_key], atol=1e-9, rtol=0)


def test_takes_the_output_layers_of_bcn(vocab):
    """The one of allennlp-models' published configuration pools the logits too."""
    sizes = {"input_dim": 16, "num_layers": 3, "output_dims": [8, 4, 3], "pool_sizes": 4}
    model = bcn(vocab, output_layer={**sizes, "dropout": 0.0})
    assert isinstance(model._output_layer, Maxout)
    assert model._output_layer._pool_sizes == [4, 4, 4]
    assert model(TOKENS)["label_logits"].shape == (2, 3)
    with pytest.raises(ConfigurationError, match="output_layer input dim"):
        bcn(vocab, output_layer={**sizes, "input_dim": 15, "dropout": 0.0})


@pytest.mark.parametrize("encoder", ["subilstm", "rcrn"])
def test_takes_other_encoders(vocab, encoder):
    model = bcn(
        vocab,
        encoder={"type": encoder, "input_size": 5, "hidden_size": 3},
        pre_encode_feedforward={"num_layers": 2, "hidden_dims": [7, 5], "activations": "tanh"},
    )
    logits = model(TOKENS)["label_logits"]
    (alone,) = model({"tokens": {"tokens": TOKENS["tokens"]["tokens"][1:, :2]}})["label_logits"]
    torch.testing.assert_close(logits[1], alone)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"integrator": {**INTEGRATOR, "input_size": 6}}, r"3 \* encoder output dim.*18.*6"),
        (
            {
                "pre_encode_feedforward": {
                    "num_layers": 1,
                    "hidden_dims": 6,
                    "activations": "relu",
                }
            },
            "pre_encode_feedforward output dim.*6.*5",
        ),
        ({"reduction_factors": [4, 5]}, r"reduction_factors .*got \[4, 5\] for 16 features"),
        ({"reduction_factors": [0]}, r"reduction_factors .*got \[0\]"),
    ],
)
def test_sizes_must_match(vocab, changes, message):
    with pytest.raises(ConfigurationError, match=message):
        bcn(vocab, **changes)
