"""Predictions for sentences: what goes in, what comes out, and saliency."""

import pytest
from allennlp.commands.train import train_model_from_file
from allennlp.common.checks import ConfigurationError
from allennlp.interpret.saliency_interpreters import SaliencyInterpreter
from allennlp.predictors import Predictor

from allennlp_sentmatch.predictors import SingleSentencePredictor
from tests.conftest import REPOSITORY

SENTENCE = "What do bakers call a crab ?"


@pytest.fixture(scope="module")
def predictor(tmp_path_factory):
    folder = tmp_path_factory.mktemp("single_sentence") / "model"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        train_model_from_file("fixtures/models/sentence_classifier.jsonnet", folder)
    return Predictor.from_path(folder / "model.tar.gz")


def test_the_archive_knows_its_predictor(predictor):
    assert isinstance(predictor, SingleSentencePredictor)


def test_the_common_output(predictor):
    output = predictor.predict(SENTENCE)
    assert output["sentence"] == SENTENCE
    assert set(output["probs_by_label"]) == {"NUM", "HUM", "LOC", "DESC", "ENTY", "ABBR"}
    assert sorted(output["probs_by_label"].values()) == sorted(output["label_probs"])
    assert output["probs_by_label"][output["label"]] == max(output["label_probs"])


def test_a_batch_echoes_each_sentence_under_its_name(predictor):
    batch = predictor.predict_batch_json([{"text": SENTENCE}, {"sentence": "Where ?"}])
    assert batch[0]["text"] == SENTENCE
    assert batch[1]["sentence"] == "Where ?"
    assert "sentence" not in batch[0]
    alone = predictor.predict(SENTENCE)
    assert batch[0]["label_probs"] == pytest.approx(alone["label_probs"], abs=1e-6)


@pytest.mark.parametrize(
    ("json", "message"),
    [
        ({"tokens": "a"}, r"expected sentence or text in the JSON, got \['tokens'\]"),
        ({"sentence": ["a", "b"]}, r"'sentence' must be a string, got \['a', 'b'\]"),
        ({"text": None}, "'text' must be a string, got None"),
    ],
)
def test_json_without_a_sentence(predictor, json, message):
    with pytest.raises(ConfigurationError, match=message):
        predictor.predict_json(json)


@pytest.mark.parametrize("name", ["simple-gradient", "integrated-gradient", "smooth-gradient"])
def test_saliency(predictor, name):
    interpreter = SaliencyInterpreter.by_name(name)(predictor)
    results = []
    for sentence in (SENTENCE, "Where is the bridge ?"):
        (values,) = interpreter.saliency_interpret_from_json({"sentence": sentence})[
            "instance_1"
        ].values()
        assert len(values) == len(sentence.split())
        assert sum(values) == pytest.approx(1.0, abs=1e-4)  # AllenNLP normalizes them
        assert max(values) > min(values)
        results.append(values)
    assert results[0] != results[1]
