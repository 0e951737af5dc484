"""Rankings in JSON: what goes in and what comes out. See also the tests of the model."""

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.dataset_readers import AnswerSelectionReader


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    vocab = Vocabulary()
    vocab.add_tokens_to_namespace(["a", "man", "runs", "who"], "tokens")
    params = {
        "type": "attentive_ranker",
        "text_field_embedder": {
            "token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 4}}
        },
        "encoder": {"type": "lstm", "input_size": 4, "hidden_size": 3},
        "pooling": "mean",
    }
    torch.manual_seed(0)
    model = Model.from_params(Params(params), vocab=vocab).eval()
    return Predictor.by_name(model.default_predictor)(model, AnswerSelectionReader("table"))


def test_scores_in_order_and_ranking_by_score(predictor):
    candidates = ["a man", "who runs", "runs runs runs", "a"]
    output = predictor.predict("who runs", candidates)
    assert output["question"] == "who runs"
    assert output["candidates"] == candidates
    assert output["scores"][1] == pytest.approx(1, abs=1e-6)  # the question itself
    assert output["ranking"][0] == {
        "position": 1,
        "score": output["scores"][1],
        "candidate": "who runs",
    }
    scores = [ranked["score"] for ranked in output["ranking"]]
    assert scores == sorted(output["scores"], reverse=True)
    assert [ranked["candidate"] for ranked in output["ranking"]] == [
        candidates[ranked["position"]] for ranked in output["ranking"]
    ]


def test_a_batch(predictor):
    inputs = [
        {"question": "who", "candidates": ["a man", "a"]},
        {"question": "who runs", "candidates": ["runs"]},
    ]
    outputs = predictor.predict_batch_json(inputs)
    for json, output in zip(inputs, outputs):
        assert output.items() >= json.items()
        assert output["scores"] == pytest.approx(predictor.predict_json(json)["scores"], abs=1e-6)


@pytest.mark.parametrize(
    ("json", "message"),
    [
        ({"question": "who"}, r"expected question and candidates in the JSON, got \['question'\]"),
        ({"question": None, "candidates": ["a"]}, "'question' must be a string, got None"),
        ({"question": "who", "candidates": "a"}, "must be a list of at least one string, got 'a'"),
        ({"question": "who", "candidates": []}, r"must be a list of at least one string, got \[\]"),
        (
            {"question": "who", "candidates": ["a", 3]},
            "each of 'candidates' must be a string, got 3",
        ),
        ({"question": "\udc00", "candidates": ["a"]}, "'question' in .* has the lone surrogate"),
        ({"question": "a", "candidates": ["\udc00"]}, "'candidates' in .* has the lone surrogate"),
        ("question, candidates", "expected a JSON object, got 'question, candidates'"),
    ],
)
def test_json_that_is_no_question(predictor, json, message):
    with pytest.raises(ConfigurationError, match=message):
        predictor.predict_json(json)


def test_no_requests(predictor):
    assert predictor.predict_batch_json([]) == []
