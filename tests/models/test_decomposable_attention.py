"""Decomposable attention against its equations and against allennlp-models' model."""

import copy
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
ATTEND = {"num_layers": 1, "hidden_dims": 5, "activations": "relu"}
COMPARE = {"num_layers": 2, "hidden_dims": 7, "activations": "relu"}
PREMISE = {"tokens": {"tokens": torch.tensor([[2, 3, 4, 2], [2, 3, 0, 0]])}}
HYPOTHESIS = {"tokens": {"tokens": torch.tensor([[5, 3, 0], [4, 3, 5]])}}


def from_params(vocab: Vocabulary, **params: Any) -> Model:
    torch.manual_seed(0)
    return Model.from_params(Params(copy.deepcopy(params)), vocab=vocab).double().eval()


def model_of(vocab: Vocabulary, **changes: Any) -> Model:
    params = {
        "type": "sentmatch_decomposable_attention",
        "text_field_embedder": EMBEDDER,
        "encoder": ENCODER,
        "attend_feedforward": ATTEND,
        "compare_feedforward": COMPARE,
        "classifier": {"hidden_size": 6, "batch_norm": False},
        **changes,
    }
    return from_params(vocab, **params)


class TestDecomposableAttention(ClassifierContract):
    config = "decomposable_attention.jsonnet"
    json = {"premise": "A woman waits for the bus .", "hypothesis": "She waits ."}
    text_keys = ("premise", "hypothesis")

    def test_shows_the_attention_between_the_sentences(self):
        output = self.predictor.predict_json(self.json)
        premise, hypothesis = (len(self.json[key].split()) for key in self.text_keys)
        for key, rows, columns in [
            ("premise_attention", premise, hypothesis),
            ("hypothesis_attention", hypothesis, premise),
        ]:
            assert [len(row) for row in output[key]] == [columns] * rows
            assert [sum(row) for row in output[key]] == pytest.approx([1.0] * rows)


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
    theirs = from_params(
        vocab,
        type="decomposable_attention",
        text_field_embedder=EMBEDDER,
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
    ours = model_of(vocab, encoder=encoder)
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
    inputs = {"premise": PREMISE, "hypothesis": HYPOTHESIS, "label": torch.tensor([1, 2])}
    expected, output = theirs(**inputs), ours(**inputs)
    for key in ("label_logits", "label_probs", "loss"):
        torch.testing.assert_close(output[key], expected[key], atol=1e-9, rtol=0)


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"encoder": {**ENCODER, "input_size": 5}}, "text_field_embedder .* encoder"),
        ({"attend_feedforward": {**ATTEND, "input_dim": 4}}, "encoder .* attend_feedforward"),
        ({"compare_feedforward": {**COMPARE, "input_dim": 6}}, "encoder .* compare_feedforward"),
    ],
)
def test_parts_that_do_not_fit_are_named(vocab, changes, names):
    with pytest.raises(ConfigurationError, match=names):
        model_of(vocab, **changes)
