import json

import numpy
import pytest
from allennlp.commands.train import train_model_from_file
from allennlp.predictors import Predictor

from tests.conftest import REPOSITORY

QUESTION = "What did the fox steal?"
PASSAGE = "The fox stole one egg,\nand ran home with it."


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answer_extractor") / "model"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        train_model_from_file("fixtures/models/rnet.jsonnet", folder)
    return folder / "model.tar.gz"


@pytest.fixture(scope="module")
def predictor(archive):
    return Predictor.from_path(archive)


def test_the_attention_is_that_of_the_answer(predictor):
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
