"""The biattentive classification network against its equations and allennlp-models' own."""

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.models import Model

from tests.models.samples import TWO_SENTENCES, construct, sample

ENCODER = {"type": "lstm", "input_size": 5, "hidden_size": 3, "bidirectional": True}
INTEGRATOR = {"type": "lstm", "input_size": 18, "hidden_size": 2, "bidirectional": True}
TOKENS = TWO_SENTENCES["premise"]


def bcn(vocab: Vocabulary, **settings) -> Model:
    return construct(
        vocab, "sentmatch_bcn", **{"encoder": ENCODER, "integrator": INTEGRATOR, **settings}
    )


def test_the_attention_of_a_very_long_sentence_is_left_out():
    output = sample("bcn").predictor(sample("bcn").model()).predict("man " * 1001)
    assert output["attention"] == []
    assert len(output["pooling_attention"]) == 1001


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
    theirs = construct(
        vocab,
        "bcn",
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
    expected, output = theirs.double()(TOKENS, label), ours.double()(TOKENS, label=label)
    for key, their_key in [
        ("label_logits", "logits"),
        ("label_probs", "class_probabilities"),
        ("loss", "loss"),
    ]:
        torch.testing.assert_close(output[key], expected[their_key], atol=1e-9, rtol=0)


def test_takes_other_encoders_and_layers(vocab):
    """The output layer of allennlp-models' published configuration pools the logits too."""
    sizes = {"input_dim": 16, "num_layers": 3, "output_dims": [8, 4, 3], "pool_sizes": 4}
    model = bcn(
        vocab,
        encoder={"type": "subilstm", "input_size": 5, "hidden_size": 3},
        pre_encode_feedforward={"num_layers": 2, "hidden_dims": [7, 5], "activations": "tanh"},
        output_layer={**sizes, "dropout": 0.0},
    )
    assert model._output_layer._pool_sizes == [4, 4, 4]
    logits = model(TOKENS)["label_logits"]
    (alone,) = model({"tokens": {"tokens": TOKENS["tokens"]["tokens"][1:, :2]}})["label_logits"]
    torch.testing.assert_close(logits[1], alone)
