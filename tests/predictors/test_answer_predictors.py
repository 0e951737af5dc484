"""Predictors of answers return their attention, scores and ranking."""

import pytest
from allennlp.data import Vocabulary
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.dataset_readers import AnswerSelectionReader
from tests.models.samples import construct

QUESTION = "What did the fox steal?"
PASSAGE = "The fox stole one egg,\nand ran home with it."


def test_the_attention_is_that_of_the_answer(untrained_predictor):
    predictor = untrained_predictor("rnet")
    output = predictor.predict(QUESTION, PASSAGE)
    start, _ = output["span"]
    (attention,) = predictor.attention_maps(output)
    assert "".join(attention.rows) == "".join(output["answer"].split())
    (attention,) = predictor.attention_maps({**output, "span": [1, 2]})
    assert attention.rows == ["fox", "stole"]
    assert attention.columns == output["metadata"]["question_tokens"]
    ends, attended = predictor.marked_texts(output)
    for marked in (ends, attended):
        first, last = (marked.offsets[token] for token in marked.span)
        assert marked.text[first[0] : last[1]] == output["answer"]
        assert len(marked.weights) == len(marked.offsets)
    probabilities = [output[f"span_{end}_probs"][start] for end in ("start", "end")]
    assert ends.weights[start] == max(probabilities)


def test_scores_in_order_and_ranking_by_score():
    vocab = Vocabulary(tokens_to_add={"tokens": ["a", "man", "runs", "who"]})
    encoder = {
        "type": "lstm",
        "input_size": 4,
        "hidden_size": 3,
    }
    model = construct(vocab, "attentive_ranker", encoder=encoder, pooling="mean")
    predictor = Predictor.by_name(model.default_predictor)(model, AnswerSelectionReader("table"))
    candidates = ["a man", "who runs", "runs runs runs", "a"]
    output = predictor.predict("who runs", candidates)
    assert output["question"] == "who runs"
    assert output["candidates"] == candidates
    assert output["scores"][1] == pytest.approx(1, abs=1e-6)  # the question itself
    assert output["ranking"][0]["position"] == 1
    scores = [ranked["score"] for ranked in output["ranking"]]
    assert scores == sorted(output["scores"], reverse=True)
    for ranked in output["ranking"]:
        place = ranked["position"]
        expected = {"score": output["scores"][place], "candidate": candidates[place]}
        assert ranked == {"position": place, **expected}
