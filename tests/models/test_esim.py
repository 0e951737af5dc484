"""ESIM against its equations and against allennlp-models' ESIM."""

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.models import Model

from tests.models.samples import TWO_SENTENCES, construct

ENCODER = {"type": "lstm", "input_size": 4, "hidden_size": 3, "bidirectional": True}
INFERENCE_ENCODER = {"type": "lstm", "input_size": 5, "hidden_size": 2, "bidirectional": True}


def esim(vocab: Vocabulary, **settings) -> Model:
    settings = {"encoder": ENCODER, "inference_encoder": INFERENCE_ENCODER, **settings}
    return construct(vocab, "sentmatch_esim", **settings)


def test_equations_of_one_pair(vocab):
    """Chen et al. 2017, equations 8-19, with the modules' own weights."""
    model = esim(vocab).double()
    ids = torch.tensor([2, 3, 4]), torch.tensor([5, 2])
    a, b = (
        model._encoder(
            model._text_field_embedder.token_embedder_tokens(i)[None], torch.ones(1, len(i)).bool()
        )[0]
        for i in ids
    )
    e = a @ b.T
    a_tilde = torch.stack([sum(w * b_j for w, b_j in zip(row.softmax(0), b)) for row in e])
    b_tilde = torch.stack([sum(w * a_i for w, a_i in zip(row.softmax(0), a)) for row in e.T])
    linear = model._projection_feedforward._linear_layers[0]
    pooled = []
    for x, x_tilde in [(a, a_tilde), (b, b_tilde)]:
        m = torch.cat([x, x_tilde, x - x_tilde, x * x_tilde], dim=-1)
        v = model._inference_encoder(linear(m).relu()[None], torch.ones(1, len(m)).bool())[0]
        pooled += [v.mean(dim=0), v.max(dim=0).values]
    hidden = model._classifier.hidden_layers[0][0](torch.cat(pooled)).tanh()
    expected = model._classifier.output_layer(hidden)
    premise, hypothesis = ({"tokens": {"tokens": i[None]}} for i in ids)
    output = model(premise, hypothesis)
    torch.testing.assert_close(output["label_logits"][0], expected, atol=1e-9, rtol=0)
    torch.testing.assert_close(output["premise_attention"][0], e.softmax(1), atol=1e-9, rtol=0)
    torch.testing.assert_close(output["hypothesis_attention"][0], e.T.softmax(1), atol=1e-9, rtol=0)


def test_equals_esim_of_allennlp_models(vocab):
    pytest.importorskip("allennlp_models.pair_classification.models.esim")
    feedforward = {"num_layers": 1, "activations": "relu"}
    theirs = construct(
        vocab,
        "esim",
        encoder=ENCODER,
        matrix_attention="dot_product",
        projection_feedforward={**feedforward, "input_dim": 24, "hidden_dims": 5},
        inference_encoder=INFERENCE_ENCODER,
        output_feedforward={**feedforward, "input_dim": 16, "hidden_dims": 7, "dropout": 0.5},
        output_logit={"input_dim": 7, "num_layers": 1, "hidden_dims": 3, "activations": "linear"},
    )
    ours = esim(vocab, classifier={"hidden_size": 7, "batch_norm": False, "dropout": 0.5})
    renamed = {
        "_output_feedforward._linear_layers.0": "_classifier.hidden_layers.0.0",
        "_output_logit._linear_layers.0": "_classifier.output_layer",
    }
    weights = theirs.state_dict()
    for old, new in renamed.items():
        for kind in ("weight", "bias"):
            weights[f"{new}.{kind}"] = weights.pop(f"{old}.{kind}")
    ours.load_state_dict(weights)
    inputs = {**TWO_SENTENCES, "label": torch.tensor([1, 2])}
    expected, output = theirs.double()(**inputs), ours.double()(**inputs)
    for key in ("label_logits", "label_probs", "loss"):
        torch.testing.assert_close(output[key], expected[key], atol=1e-9, rtol=0)


def test_dropout_before_both_encoders(vocab):
    """In training, the same dimensions are dropped from every token of a sentence."""
    projection = {"num_layers": 1, "hidden_dims": 5, "activations": "linear"}
    model = esim(vocab, projection_feedforward=projection)
    read = []
    for encoder in (model._encoder, model._inference_encoder):
        encoder.register_forward_hook(lambda _, args, __: read.append(args[0]))
    for training in (False, True):
        model.train(training)(**TWO_SENTENCES)
    for inputs in read[:2]:
        assert (inputs != 0).any(dim=1).all()
    for inputs in read[2:]:
        # Of 4 sentences, the first of which has 4 tokens.
        dropped = (inputs[0] == 0).all(dim=0)
        assert 0 < (inputs == 0).all(dim=1).sum() < inputs[:, 0].numel()
        assert ((inputs[0] == 0) == dropped).all()


@pytest.mark.parametrize("matcher", ["heuristic", "symmetric", {"type": "elbis"}])
def test_takes_any_matcher_as_its_comparison(vocab, matcher):
    model = esim(vocab, matcher=matcher)
    output = model(**TWO_SENTENCES, label=torch.tensor([0, 1]))
    output["loss"].backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model._matcher.parameters())


def test_takes_other_encoders_projections_and_attention(vocab):
    model = esim(
        vocab,
        encoder={"type": "subilstm", "input_size": 4, "hidden_size": 3},
        inference_encoder={"type": "rcrn", "input_size": 5, "hidden_size": 2},
        projection_feedforward={"num_layers": 2, "hidden_dims": [7, 5], "activations": "tanh"},
        matrix_attention={"type": "bilinear", "matrix_1_dim": 6, "matrix_2_dim": 6},
    )
    logits = model(**TWO_SENTENCES)["label_logits"]
    ids = (
        TWO_SENTENCES["premise"]["tokens"]["tokens"],
        TWO_SENTENCES["hypothesis"]["tokens"]["tokens"],
    )
    (alone,) = model(*({"tokens": {"tokens": i}} for i in (ids[0][1:, :2], ids[1][1:])))[
        "label_logits"
    ]
    torch.testing.assert_close(logits[1], alone)
