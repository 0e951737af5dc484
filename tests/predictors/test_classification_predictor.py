"""The predictor returns labels, thresholds and the saliency of every text."""

from copy import deepcopy

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.interpret.saliency_interpreters import SaliencyInterpreter
from allennlp.models import Model
from allennlp.predictors import Predictor

from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.models.ensemble import ensemble_archives
from allennlp_sentmatch.predictors import EnsemblePredictor, SentencePairPredictor
from allennlp_sentmatch.predictors.classification_predictor import LabelThreshold
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
    named_alike = {
        **PAIR,
        "label": "none",
        "label_probs": [],
        "probs_by_label": None,
        "id": 3,
    }
    batched, _ = predictor.predict_batch_json([named_alike, PAIR])
    for output in (predictor.predict_json(named_alike), batched):
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


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("esim", PAIR),
        ("sentence_classifier", SENTENCE),
    ],
)
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


LABELS = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("threshold", "probabilities", "expected"),
    [
        (0.5, (0.5, 0.3, 0.2), "a"),
        (0.6, (0.5, 0.3, 0.2), None),
        (0.0, (0.2, 0.3, 0.5), "c"),
        (0.2, (0.2, 0.3, 0.5), "c"),
        ({"a": 0.6}, (0.5, 0.3, 0.2), "b"),
        ({"a": 0.6, "b": 0.4, "c": 0.4}, (0.5, 0.3, 0.2), None),
        ({"a": 0.3, "b": 0.7, "c": 1}, (0.35, 0.65, 0.0), "a"),
        ({}, (0.5, 0.3, 0.2), "a"),
    ],
)
def test_the_most_probable_label_that_reaches_its_threshold(threshold, probabilities, expected):
    chosen = LabelThreshold(threshold, LABELS).choose(dict(zip(LABELS, probabilities)))
    assert chosen == expected


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        (1.5, "from 0 to 1; got 1.5"),
        (float("nan"), "from 0 to 1; got nan"),
        ("0.5", "from 0 to 1; got '0.5'"),
        (True, "from 0 to 1; got True"),
        ({"a": -0.1}, "from 0 to 1; got -0.1"),
        ({"d": 0.5}, r"the label 'd', but the model's labels are \['a', 'b', 'c'\]"),
    ],
)
def test_what_is_no_threshold(threshold, message):
    with pytest.raises(ConfigurationError, match=message):
        LabelThreshold(threshold, LABELS)


def test_a_predictor_leaves_improbable_labels_undecided(small_archive):
    archive = load_archive(small_archive)
    plain = Predictor.from_archive(archive).predict_json(PAIR)
    highest = max(plain["label_probs"])
    for threshold, label in ((highest - 1e-4, plain["label"]), (highest + 1e-4, None)):
        predictor = Predictor.from_archive(archive, extra_args={"threshold": threshold})
        alone = predictor.predict_json(PAIR)
        (batched,) = predictor.predict_batch_json([PAIR])
        assert alone["label"] == label
        assert batched["label"] == label
        assert alone["probs_by_label"] == plain["probs_by_label"]


def test_an_ensemble_has_a_threshold(small_archive, tmp_path):
    file = ensemble_archives([str(small_archive)], str(tmp_path / "ensemble.tar.gz"))
    predictor = Predictor.from_archive(load_archive(file), extra_args={"threshold": 1.0})
    assert predictor.predict_json(PAIR)["label"] is None


def test_other_models_have_no_threshold():
    with pytest.raises(ConfigurationError, match="needs a classifier of this package, not a Lin"):
        SentencePairPredictor(torch.nn.Linear(1, 1), None, threshold=0.5)
