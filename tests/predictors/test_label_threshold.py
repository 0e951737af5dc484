"""The probability that a label needs."""

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.predictors.classification_predictor import LabelThreshold

LABELS = ["a", "b", "c"]
PAIR = {"premise": "A kitten is moving a rose.", "hypothesis": "A cat is moving a flower."}


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
        (1.5, "between 0 and 1, got 1.5"),
        (float("nan"), "between 0 and 1, got nan"),
        ("0.5", "between 0 and 1, got '0.5'"),
        (True, "between 0 and 1, got True"),
        ({"a": -0.1}, "between 0 and 1, got -0.1"),
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
        alone, (batched,) = predictor.predict_json(PAIR), predictor.predict_batch_json([PAIR])
        assert (alone["label"], batched["label"]) == (label, label)
        assert alone["probs_by_label"] == plain["probs_by_label"]


def test_an_ensemble_has_a_threshold(small_archive, tmp_path):
    from allennlp_sentmatch.models.ensemble import ensemble_archives

    file = ensemble_archives([str(small_archive)], str(tmp_path / "ensemble.tar.gz"))
    predictor = Predictor.from_archive(load_archive(file), extra_args={"threshold": 1.0})
    assert predictor.predict_json(PAIR)["label"] is None


def test_other_models_have_none():
    from torch.nn import Linear, Module

    from allennlp_sentmatch.predictors import SentencePairPredictor

    model: Module = Linear(1, 1)
    with pytest.raises(ConfigurationError, match="needs a classifier of this package, not a Lin"):
        SentencePairPredictor(model, None, threshold=0.5)
