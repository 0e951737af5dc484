"""With the same weights, some models have the logits of allennlp-models' own."""

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.models import Model

from tests.models.samples import TWO_SENTENCES, construct

pytest.importorskip("allennlp_models.pair_classification")
pytest.importorskip("allennlp_models.classification")

LSTM = {
    "type": "lstm",
    "input_size": 4,
    "hidden_size": 3,
    "bidirectional": True,
}
COMPOSITION = {**LSTM, "input_size": 5, "hidden_size": 2}
RELU = {"num_layers": 1, "activations": "relu"}
LINEAR = {"num_layers": 1, "activations": "linear"}


def check(theirs: Model, ours: Model, inputs: dict, **renamed: str) -> None:
    weights = {}
    for name, value in theirs.state_dict().items():
        for old, new in renamed.items():
            name = name.replace(old, new)
        if not name.startswith("_hypothesis_encoder."):
            weights[name.replace("feedforward._module", "feedforward")] = value
    ours.load_state_dict(weights)
    label = torch.tensor([1, 2])
    expected, output = (model.double()(**inputs, label=label) for model in (theirs, ours))
    names = ["label_logits", "logits"], ["label_probs", "class_probabilities"], ["loss"]
    for name, *others in names:
        found = next(expected[key] for key in (name, *others) if key in expected)
        torch.testing.assert_close(output[name], found, atol=1e-9, rtol=0)


def test_esim(vocab: Vocabulary):
    settings = {"encoder": LSTM, "inference_encoder": COMPOSITION}
    theirs = construct(
        vocab,
        "esim",
        **settings,
        matrix_attention="dot_product",
        projection_feedforward={**RELU, "input_dim": 24, "hidden_dims": 5},
        output_feedforward={**RELU, "input_dim": 16, "hidden_dims": 7, "dropout": 0.5},
        output_logit={**LINEAR, "input_dim": 7, "hidden_dims": 3},
    )
    classifier = {
        "hidden_size": 7,
        "batch_norm": False,
        "dropout": 0.5,
    }
    ours = construct(vocab, "sentmatch_esim", **settings, classifier=classifier)
    renamed = {
        "_output_feedforward._linear_layers.0": "_classifier.hidden_layers.0.0",
        "_output_logit._linear_layers.0": "_classifier.output_layer",
    }
    check(theirs, ours, TWO_SENTENCES, **renamed)


def test_decomposable_attention(vocab: Vocabulary):
    encoder = {**LSTM, "hidden_size": 2}  # theirs accepts only encoders that keep the size
    attend = {**RELU, "hidden_dims": 5}
    compare = {**RELU, "num_layers": 2, "hidden_dims": 7}
    aggregate = {"hidden_dims": [6, 3], "activations": ["relu", "linear"]}
    theirs = construct(
        vocab,
        "decomposable_attention",
        premise_encoder=encoder,
        attend_feedforward={**attend, "input_dim": 4},
        matrix_attention="dot_product",
        compare_feedforward={**compare, "input_dim": 8},
        aggregate_feedforward={"num_layers": 2, "input_dim": 14, **aggregate},
    )
    ours = construct(
        vocab,
        "sentmatch_decomposable_attention",
        encoder=encoder,
        attend_feedforward=attend,
        compare_feedforward=compare,
        classifier={"hidden_size": 6, "batch_norm": False},
    )
    renamed = {
        "_aggregate_feedforward._linear_layers.0": "_classifier.hidden_layers.0.0",
        "_aggregate_feedforward._linear_layers.1": "_classifier.output_layer",
        "_premise_": "_",
    }
    check(theirs, ours, TWO_SENTENCES, **renamed)


def test_bcn(vocab: Vocabulary):
    settings = {
        "encoder": {**LSTM, "input_size": 5},
        "integrator": {**LSTM, "input_size": 18, "hidden_size": 2},
        "embedding_dropout": 0.25,
        "integrator_dropout": 0.1,
    }
    maxout = {
        "output_dims": [4, 2, 3],
        "pool_sizes": [4, 2, 1],
        "dropout": [0.2, 0.3, 0.0],
    }
    theirs = construct(
        vocab,
        "bcn",
        pre_encode_feedforward={**RELU, "input_dim": 4, "hidden_dims": 5},
        output_layer={"input_dim": 16, "num_layers": 3, **maxout},
        **settings,
    )
    ours = construct(vocab, "sentmatch_bcn", maxout_dropout=0.2, **settings)
    check(theirs, ours, {"tokens": TWO_SENTENCES["premise"]})
