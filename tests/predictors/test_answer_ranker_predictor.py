"""Rankings in JSON. See also the tests of the model."""

import pytest
from allennlp.data import Vocabulary
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.dataset_readers import AnswerSelectionReader
from tests.models.samples import construct


def test_scores_in_order_and_ranking_by_score():
    vocab = Vocabulary(tokens_to_add={"tokens": ["a", "man", "runs", "who"]})
    encoder = {"type": "lstm", "input_size": 4, "hidden_size": 3}
    model = construct(vocab, "attentive_ranker", encoder=encoder, pooling="mean")
    predictor = Predictor.by_name(model.default_predictor)(model, AnswerSelectionReader("table"))
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
