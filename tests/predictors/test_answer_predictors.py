import json

import numpy
import pytest
from allennlp.commands.train import train_model_from_file
from allennlp.data import Vocabulary
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.dataset_readers import AnswerSelectionReader
from tests.conftest import REPOSITORY
from tests.models.samples import construct

QUESTION = "What did the fox steal?"
PASSAGE = "The fox stole one egg,\nand ran home with it."


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answer_extractor") / "model"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        train_model_from_file("fixtures/models/rnet.jsonnet", folder)
    return folder / "model.tar.gz"


def test_the_attention_is_that_of_the_answer(archive):
    predictor = Predictor.from_path(archive)
    output = predictor.predict(QUESTION, PASSAGE)
    start, end = output["span"]
    num_question, num_passage = (
        len(output["metadata"][f"{name}_tokens"]) for name in ("question", "passage")
    )
    assert numpy.shape(output["question_attention"]) == (end - start + 1, num_question)
    assert numpy.shape(output["passage_attention"]) == (num_passage,)

    (attention,) = predictor.attention_maps(output)
    assert " ".join(attention.rows).split()[0] in PASSAGE
    assert len(attention.columns) == num_question
    ends, attended = predictor.marked_texts(output)
    for marked in (ends, attended):
        first, last = (marked.offsets[token] for token in marked.span)
        assert marked.text[first[0] : last[1]] == output["answer"]
        assert len(marked.weights) == len(marked.offsets)
    assert ends.weights[start] == max(
        output["span_start_probs"][start], output["span_end_probs"][start]
    )


def test_evaluate_and_predict_commands(archive, allennlp, fixtures, tmp_path):
    data = fixtures / "data" / "fairytaleqa.jsonl"
    metrics = tmp_path / "metrics.json"
    predictions = tmp_path / "predictions.jsonl"
    output = ("--output-file", metrics, "--predictions-output-file", predictions)
    allennlp("evaluate", archive, data, *output)
    assert "passage_attention" in predictions.read_text()
    assert "self_matching_attention" not in predictions.read_text()
    names = {"bleu_1", "bleu_4", "rouge_l", "meteor", "exact_match", "f1", "loss"}
    assert names <= set(json.loads(metrics.read_text()))
    requests, answers = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    requests.write_text(json.dumps({"question": QUESTION, "passage": PASSAGE}) + "\n")
    allennlp("predict", archive, requests, "--output-file", answers, "--silent")
    (answer,) = map(json.loads, answers.read_text().splitlines())
    assert answer["answer"] in PASSAGE


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
