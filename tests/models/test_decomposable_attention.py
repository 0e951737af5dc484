"""Decomposable attention against its equations and against allennlp-models' model."""

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.models import Model

from tests.models.samples import TWO_SENTENCES, construct

ENCODER = {"type": "lstm", "input_size": 4, "hidden_size": 3, "bidirectional": True}
ATTEND = {"num_layers": 1, "hidden_dims": 5, "activations": "relu"}
COMPARE = {"num_layers": 2, "hidden_dims": 7, "activations": "relu"}


def model_of(vocab: Vocabulary, encoder=ENCODER) -> Model:
    return construct(
        vocab,
        "sentmatch_decomposable_attention",
        encoder=encoder,
        attend_feedforward=ATTEND,
        compare_feedforward=COMPARE,
        classifier={"hidden_size": 6, "batch_norm": False},
    ).double()


def test_equations_of_one_pair(vocab):
    """Parikh et al. 2016, equations 1-6, with the modules' own weights."""
    model = model_of(vocab)
    ids = torch.tensor([2, 3, 4]), torch.tensor([5, 2])
    a, b = (
        model._encoder(
            model._text_field_embedder.token_embedder_tokens(i)[None], torch.ones(1, len(i)).bool()
        )[0]
        for i in ids
    )
    (attend,) = model._attend_feedforward._linear_layers
    e = attend(a).relu() @ attend(b).relu().T
    beta = torch.stack([sum(w * b_j for w, b_j in zip(row.softmax(0), b)) for row in e])
    alpha = torch.stack([sum(w * a_i for w, a_i in zip(row.softmax(0), a)) for row in e.T])
    sums = []
    for x, aligned in [(a, beta), (b, alpha)]:
        compared = torch.cat([x, aligned], dim=-1)
        for layer in model._compare_feedforward._linear_layers:
            compared = layer(compared).relu()
        sums.append(sum(compared))
    hidden = model._classifier.hidden_layers[0][0](torch.cat(sums)).relu()
    expected = model._classifier.output_layer(hidden)
    premise, hypothesis = ({"tokens": {"tokens": i[None]}} for i in ids)
    output = model(premise, hypothesis)
    torch.testing.assert_close(output["label_logits"][0], expected, atol=1e-9, rtol=0)
    torch.testing.assert_close(output["premise_attention"][0], e.softmax(1), atol=1e-9, rtol=0)
    torch.testing.assert_close(output["hypothesis_attention"][0], e.T.softmax(1), atol=1e-9, rtol=0)


def test_equals_decomposable_attention_of_allennlp_models(vocab):
    pytest.importorskip("allennlp_models.pair_classification.models.decomposable_attention")
    encoder = {**ENCODER, "hidden_size": 2}  # theirs takes encoders that keep the size only
    theirs = construct(
        vocab,
        "decomposable_attention",
        premise_encoder=encoder,
        attend_feedforward={**ATTEND, "input_dim": 4},
        matrix_attention="dot_product",
        compare_feedforward={**COMPARE, "input_dim": 8},
        aggregate_feedforward={
            "input_dim": 14,
            "num_layers": 2,
            "hidden_dims": [6, 3],
            "activations": ["relu", "linear"],
        },
    )
    ours = model_of(vocab, encoder)
    weights = theirs.state_dict()
    for old, new in [
        ("_aggregate_feedforward._linear_layers.0", "_classifier.hidden_layers.0.0"),
        ("_aggregate_feedforward._linear_layers.1", "_classifier.output_layer"),
    ]:
        for kind in ("weight", "bias"):
            weights[f"{new}.{kind}"] = weights.pop(f"{old}.{kind}")
    ours.load_state_dict(
        {
            name.replace("_premise_", "_").replace("feedforward._module", "feedforward"): value
            for name, value in weights.items()
            if not name.startswith("_hypothesis_encoder.")
        }
    )
    inputs = {**TWO_SENTENCES, "label": torch.tensor([1, 2])}
    expected, output = theirs.double()(**inputs), ours(**inputs)
    for key in ("label_logits", "label_probs", "loss"):
        torch.testing.assert_close(output[key], expected[key], atol=1e-9, rtol=0)
