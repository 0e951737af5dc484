"""ESIM against its equations and against allennlp-models' ESIM."""

import copy
import json
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model

from tests.models.model_contract import ClassifierContract

EMBEDDER = {"token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 4}}}
ENCODER = {"type": "lstm", "input_size": 4, "hidden_size": 3, "bidirectional": True}
INFERENCE_ENCODER = {"type": "lstm", "input_size": 5, "hidden_size": 2, "bidirectional": True}
PREMISE = {"tokens": {"tokens": torch.tensor([[2, 3, 4, 2], [2, 3, 0, 0]])}}
HYPOTHESIS = {"tokens": {"tokens": torch.tensor([[5, 3, 0], [4, 3, 5]])}}


def from_params(vocab: Vocabulary, **params: Any) -> Model:
    torch.manual_seed(0)
    return Model.from_params(Params(copy.deepcopy(params)), vocab=vocab).eval()


def esim(vocab: Vocabulary, **changes: Any) -> Model:
    params = {
        "type": "sentmatch_esim",
        "text_field_embedder": EMBEDDER,
        "encoder": ENCODER,
        "inference_encoder": INFERENCE_ENCODER,
        **changes,
    }
    return from_params(vocab, **params)


class TestESIM(ClassifierContract):
    config = "esim.jsonnet"
    json = {"premise": "A woman waits for the bus .", "hypothesis": "She waits ."}
    text_keys = ("premise", "hypothesis")

    def test_shows_the_attention_between_the_sentences(self):
        shorter = {"premise": "She waits .", "hypothesis": "A bus"}
        for pair, output in zip(
            [self.json, shorter], self.predictor.predict_batch_json([self.json, shorter])
        ):
            premise, hypothesis = (len(pair[key].split()) for key in self.text_keys)
            for key, rows, columns in [
                ("premise_attention", premise, hypothesis),
                ("hypothesis_attention", hypothesis, premise),
            ]:
                assert [len(row) for row in output[key]] == [columns] * rows
                assert [sum(row) for row in output[key]] == pytest.approx([1.0] * rows)
        assert not any(key.endswith("_lengths") for key in output)


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
    theirs = from_params(
        vocab,
        type="esim",
        text_field_embedder=EMBEDDER,
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
    inputs = {"premise": PREMISE, "hypothesis": HYPOTHESIS, "label": torch.tensor([1, 2])}
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
        model.train(training)(PREMISE, HYPOTHESIS)
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
    output = model(PREMISE, HYPOTHESIS, label=torch.tensor([0, 1]))
    output["loss"].backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model._matcher.parameters())


@pytest.mark.parametrize("encoder", ["subilstm", "rcrn"])
def test_takes_other_encoders(vocab, encoder):
    first = {"type": encoder, "input_size": 4, "hidden_size": 3}
    second = {"type": encoder, "input_size": 5, "hidden_size": 2}
    model = esim(vocab, encoder=first, inference_encoder=second)
    logits = model(PREMISE, HYPOTHESIS)["label_logits"]
    (alone,) = model(
        {"tokens": {"tokens": PREMISE["tokens"]["tokens"][1:, :2]}},
        {"tokens": {"tokens": HYPOTHESIS["tokens"]["tokens"][1:]}},
    )["label_logits"]
    torch.testing.assert_close(logits[1], alone)


def test_takes_another_projection_and_attention(vocab):
    model = esim(
        vocab,
        projection_feedforward={"num_layers": 2, "hidden_dims": [7, 5], "activations": "tanh"},
        matrix_attention={"type": "bilinear", "matrix_1_dim": 6, "matrix_2_dim": 6},
    )
    assert model(PREMISE, HYPOTHESIS)["label_logits"].shape == (2, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"encoder": {**ENCODER, "input_size": 9}}, "text_field_embedder output dim.*4.*9"),
        (
            {
                "projection_feedforward": {
                    "num_layers": 1,
                    "hidden_dims": 8,
                    "activations": "relu",
                }
            },
            "projection_feedforward output dim.*8.*5",
        ),
        ({"matcher": {"type": "symmetric", "input_size": 5}}, "encoder output dim.*6.*5"),
    ],
)
def test_sizes_must_match(vocab, changes, message):
    with pytest.raises(ConfigurationError, match=message):
        esim(vocab, **json.loads(json.dumps(changes)))
