"""The page's predictions are those of the predictor and of `allennlp inspect`."""

import json
import re
from dataclasses import asdict

import numpy
import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from allennlp_sentmatch.inspection import SALIENCY_METHODS, collect_gates, interpret
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.serving.predictions import service_of

PAIR = {"premise": "A kitten sleeps.", "hypothesis": "A wombat is moving."}
MODELS = {
    "attentive_ranker": "answer_ranker",
    "cs_lvm": "sentence_pair",
    "distilled_encoder": "sentence_vector",
    "encoder_decoder": "translation",
    "esim": "sentence_pair",
    "rnet": "answer_extractor",
    "sentence_classifier": "single_sentence",
    "similarity_regressor": "sentence_pair",
}


def answer(service, path, body):
    """Return a service's answer to a request's JSON."""
    route = service.routes[path]
    question = route.parse(body)
    contents = [route.job.read(one)[0] for one in question.inputs]
    return json.loads(route.render(question, list(route.job.compute(contents))))


def test_the_saliency_is_that_of_interpret(untrained_predictor):
    predictor = untrained_predictor("esim")
    service = service_of(predictor)
    for method in SALIENCY_METHODS:
        shown = answer(service, f"/saliency/{method}", PAIR)["saliency"]
        for one, expected in zip(shown, interpret(predictor, PAIR, method)):
            assert one == {**asdict(expected), "values": pytest.approx(expected.values, abs=1e-5)}


def test_an_inspection_has_attention_and_unknown_words(untrained_predictor):
    predictor = untrained_predictor("esim")
    shown = answer(service_of(predictor), "/inspect", PAIR)
    expected = predictor.attention_maps(predictor.predict_json(PAIR))
    assert len(shown["attention"]) == 2
    assert len(expected) == 2
    for one, other in zip(shown["attention"], expected):
        weights = pytest.approx(numpy.array(other.weights), abs=1e-5)
        assert one == {**other._asdict(), "weights": weights}
    assert "wombat" in shown["unknown_words"]
    assert "A" not in shown["unknown_words"]
    assert shown["trees"] == []
    assert shown["marked_texts"] == []
    assert shown["gates"] == []


def test_an_inspection_has_trees_gates_and_marked_texts(untrained_predictor, small_archive):
    predictor = Predictor.from_archive(load_archive(small_archive))
    shown = answer(service_of(predictor), "/inspect", PAIR)
    gates = collect_gates(predictor, [PAIR])
    assert [one["counts"] for one in shown["gates"]] == [one.counts for one in gates] != []
    encoder = {
        "type": "gumbel_tree_lstm",
        "input_size": 4,
        "hidden_size": 3,
    }
    predictor = untrained_predictor("similarity_regressor", encoder=encoder)
    trees = answer(service_of(predictor), "/inspect", PAIR)["trees"]
    assert [one["title"] for one in trees] == ["Tree of the premise", "Tree of the hypothesis"]
    assert re.sub("[()]", "", trees[0]["tree"]) == "A kitten sleeps ."
    question = {"question": "Who slept?", "passage": "The fox\nslept in the old mill."}
    predictor = untrained_predictor("rnet")
    marked = answer(service_of(predictor), "/inspect", question)["marked_texts"]
    assert marked[0]["title"] == "Answer in the passage"
    start, end = (marked[0]["offsets"][i][j] for j, i in enumerate(marked[0]["span"]))
    assert question["passage"][start:end] == predictor.predict_json(question)["answer"]


@pytest.mark.parametrize("name", ["attentive_ranker", "rnet", "encoder_decoder"])
def test_models_without_saliency(untrained_predictor, name):
    assert set(service_of(untrained_predictor(name)).routes) == {"/predict", "/inspect"}


def test_other_predictors_are_refused():
    with pytest.raises(ConfigurationError, match="the predictor object cannot be served"):
        service_of(object())


def test_a_second_predictor_for_a_model_is_served(untrained_predictor):
    predictor = untrained_predictor("cs_lvm")
    generator = Predictor.by_name("pair_generator")(predictor._model, predictor._dataset_reader)
    service = service_of(generator)
    sentences = answer(service, "/predict", {"source": "A man ."})["sentences"]
    assert sentences.keys() == {*predictor._model.labels}
    assert answer(service, "/inspect", {"source": "A man ."})["trees"] == []


@pytest.mark.parametrize(("name", "own"), MODELS.items())
def test_a_predictor_for_models_of_another_kind_is_refused(untrained_predictor, name, own):
    predictor = untrained_predictor(name)
    service_of(predictor)
    for other in set(MODELS.values()) - {own}:
        unfitting = Predictor.by_name(other)(predictor._model, predictor._dataset_reader)
        with pytest.raises(
            ConfigurationError, match=f"cannot use .*{type(predictor._model).__name__}"
        ):
            service_of(unfitting)
