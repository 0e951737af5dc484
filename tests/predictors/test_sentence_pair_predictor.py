"""Predictions for pairs: what goes in, what comes out, and saliency."""

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.interpret.saliency_interpreters import SaliencyInterpreter
from allennlp.predictors import Predictor

from allennlp_sentmatch.predictors import SentencePairPredictor

PAIR = {"premise": "A kitten is moving a rose.", "hypothesis": "A cat is moving a flower outdoors."}


@pytest.fixture(scope="module")
def predictor(small_archive):
    return Predictor.from_path(small_archive)


def test_the_archive_knows_its_predictor(predictor):
    assert isinstance(predictor, SentencePairPredictor)


def test_the_common_output(predictor):
    output = predictor.predict(**PAIR)
    assert output.items() >= PAIR.items()
    assert set(output["probs_by_label"]) == {"entailment", "contradiction", "neutral"}
    assert sorted(output["probs_by_label"].values()) == sorted(output["label_probs"])
    assert output["probs_by_label"][output["label"]] == max(output["label_probs"])


def test_both_names_of_the_sentences_and_batches(predictor):
    renamed = {"sentence1": PAIR["premise"], "sentence2": PAIR["hypothesis"]}
    swapped = {"premise": PAIR["hypothesis"], "hypothesis": PAIR["premise"]}
    batch = predictor.predict_batch_json([PAIR, renamed, swapped])
    assert batch[1].items() >= renamed.items()
    assert batch[0]["label_probs"] == pytest.approx(batch[1]["label_probs"], abs=1e-6)
    assert batch[0]["label_probs"] != pytest.approx(batch[2]["label_probs"], abs=1e-6)
    alone = predictor.predict_json(PAIR)
    assert alone["label_probs"] == pytest.approx(batch[0]["label_probs"], abs=1e-6)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ({"premise": "a"}, r"expected premise/hypothesis or sentence1/sentence2.*\['premise'\]"),
        ({"premise": "a", "hypothesis": None}, "'hypothesis' must be a string, got None"),
        ({"sentence1": 3, "sentence2": "a"}, "'sentence1' must be a string, got 3"),
        ({"premise": "a", "hypothesis": "\ud800"}, r"'hypothesis' in .* has the lone surrogate"),
        (["premise", "hypothesis"], r"expected a JSON object, got \['premise', 'hypothesis'\]"),
        ({"premise": "a", 3: "b"}, r"expected premise/hypothesis .*\['premise', 3\]"),
    ],
)
def test_a_pair_that_is_none(predictor, pair, message):
    with pytest.raises(ConfigurationError, match=message):
        predictor.predict_json(pair)


def test_an_empty_sentence_has_a_prediction(predictor):
    output = predictor.predict(premise="", hypothesis="A cat.")
    assert sum(output["label_probs"]) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("name", ["simple-gradient", "integrated-gradient", "smooth-gradient"])
def test_saliency_of_both_sentences(predictor, name):
    interpreter = SaliencyInterpreter.by_name(name)(predictor)
    other = {**PAIR, "hypothesis": "A dog is guarding a book in the attic."}
    results = [
        interpreter.saliency_interpret_from_json(pair)["instance_1"] for pair in (PAIR, other)
    ]
    for pair, result in zip((PAIR, other), results):
        tokens = predictor.predict_json(pair)["metadata"]
        lengths = {len(tokens["premise_tokens"]), len(tokens["hypothesis_tokens"])}
        assert {len(values) for values in result.values()} == lengths
        for values in result.values():
            assert sum(values) == pytest.approx(1.0, abs=1e-4)  # AllenNLP normalizes them
            assert max(values) > min(values)
    assert results[0] != results[1]


def test_an_input_does_not_replace_the_prediction(predictor):
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


def test_no_requests(predictor):
    assert predictor.predict_batch_json([]) == []


@pytest.mark.parametrize("name", ["simple-gradient", "integrated-gradient", "smooth-gradient"])
@pytest.mark.parametrize("scorer", ["graded", "cosine"])
def test_saliency_for_a_score(untrained_predictor, name, scorer):
    predictor = untrained_predictor("similarity_regressor", scorer=scorer)
    pair = {"premise": "A plane is taking off", "hypothesis": "I agree with a man"}
    result = SaliencyInterpreter.by_name(name)(predictor).saliency_interpret_from_json(pair)
    for values in result["instance_1"].values():
        assert sum(values) == pytest.approx(1.0, abs=1e-4)
        assert max(values) > min(values)
