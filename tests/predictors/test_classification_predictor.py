"""Predictors of labels and scores: what goes in, what comes out, and saliency."""

from copy import deepcopy

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.interpret.saliency_interpreters import SaliencyInterpreter
from allennlp.models import Model
from allennlp.predictors import Predictor

from allennlp_sentmatch.predictors import EnsemblePredictor
from tests.models.samples import sample

PAIR = {"premise": "A plane is taking off", "hypothesis": "I agree with a man"}
SENTENCE = {"sentence": "What is a crab ?"}


@pytest.mark.parametrize(
    ("name", "request_", "names"),
    [
        ("esim", PAIR, ("sentence1", "sentence2")),
        ("sentence_classifier", SENTENCE, ("text",)),
    ],
)
def test_texts_have_other_names_too(untrained_predictor, name, request_, names):
    predictor = untrained_predictor(name)
    renamed = dict(zip(names, request_.values()))
    output, other = predictor.predict_batch_json([request_, renamed])
    assert other.items() >= renamed.items()
    assert other.keys() - renamed.keys() == output.keys() - request_.keys()
    assert other["label_probs"] == pytest.approx(output["label_probs"], abs=1e-6)
    assert predictor.predict(*request_.values()).keys() == output.keys()


def test_an_input_does_not_replace_the_prediction(untrained_predictor):
    predictor = untrained_predictor("esim")
    expected = predictor.predict_json(PAIR)
    named_alike = {**PAIR, "label": "none", "label_probs": [], "probs_by_label": None, "id": 3}
    for output in (
        predictor.predict_json(named_alike),
        predictor.predict_batch_json([named_alike, PAIR])[0],
    ):
        assert output.keys() == expected.keys()
        assert output["label"] == expected["label"]
        assert output["label_probs"] == pytest.approx(expected["label_probs"], abs=1e-6)
        assert output["probs_by_label"].keys() == expected["probs_by_label"].keys()


@pytest.mark.parametrize("method", ["simple-gradient", "integrated-gradient", "smooth-gradient"])
@pytest.mark.parametrize(
    ("name", "settings", "requests"),
    [
        ("esim", {}, [PAIR, {**PAIR, "hypothesis": "A dog is in the attic now"}]),
        ("sentence_classifier", {}, [SENTENCE, {"sentence": "Where is the bridge ?"}]),
        ("similarity_regressor", {"scorer": "graded"}, [PAIR]),
        ("similarity_regressor", {"scorer": "cosine"}, [PAIR]),
    ],
)
def test_saliency_of_every_text(untrained_predictor, method, name, settings, requests):
    predictor = untrained_predictor(name, **settings)
    interpreter = SaliencyInterpreter.by_name(method)(predictor)
    results = []
    for request in requests:
        result = interpreter.saliency_interpret_from_json(request)["instance_1"]
        assert {len(v) for v in result.values()} == {len(t.split()) for t in request.values()}
        for values in result.values():
            assert sum(values) == pytest.approx(1.0, abs=1e-4)  # AllenNLP normalizes them
            assert max(values) > min(values)
        results.append(result)
    assert len(results) == 1 or results[0] != results[1]


def ensemble_predictor(name: str) -> Predictor:
    members = [deepcopy(sample(name).config["model"]) for _ in range(2)]
    params = Params({"type": "ensemble", "members": members})
    return sample(name).predictor(Model.from_params(params, vocab=sample(name).vocab).eval())


@pytest.mark.parametrize(("name", "request_"), [("esim", PAIR), ("sentence_classifier", SENTENCE)])
def test_an_ensemble_takes_what_its_members_take(name, request_):
    predictor = ensemble_predictor(name)
    assert isinstance(predictor, EnsemblePredictor)
    output = predictor.predict_json(request_)
    assert output.items() >= request_.items()
    assert sum(output["probs_by_label"].values()) == pytest.approx(1, abs=1e-6)
    with pytest.raises(ConfigurationError, match=f"expected {'/'.join(request_)} or"):
        predictor.predict_json({"question": "a man"})
    interpreter = SaliencyInterpreter.by_name("simple-gradient")(predictor)
    with pytest.raises(ConfigurationError, match="interpret its members"):
        interpreter.saliency_interpret_from_json(request_)
