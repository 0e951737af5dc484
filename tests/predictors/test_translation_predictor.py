"""Translation from JSON and from plain sentences."""

import json

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from allennlp_sentmatch.predictors import TranslationPredictor

SOURCE = "Ein Hund läuft über die Wiese ."


@pytest.fixture(scope="module")
def predictor(untrained_predictor):
    return untrained_predictor("encoder_decoder", beam_search={"beam_size": 2, "max_steps": 5})


def test_registered(predictor):
    assert isinstance(predictor, TranslationPredictor)
    assert Predictor.by_name("translation") is TranslationPredictor


def test_a_batch_gives_what_its_sentences_give_alone(predictor):
    sources = [SOURCE, "", "Zwei Kinder"]
    outputs = predictor.predict_batch_json([{"source": source} for source in sources])
    for source, output in zip(sources, outputs):
        alone = predictor.translate(source)
        assert output["source"] == alone["source"] == source
        assert output["target"] == alone["target"]
        assert json.loads(json.dumps(alone)) == alone


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"{SOURCE}\n", {"source": SOURCE}),
        (f' {{"source": "{SOURCE}"}}\n', {"source": SOURCE}),
        ("[1]\n", {"source": "[1]"}),
    ],
)
def test_lines_of_a_file(predictor, line, expected):
    assert predictor.load_line(line) == expected


@pytest.mark.parametrize("line", ['{"source": "a"', "\ud800"])
def test_lines_that_cannot_be_read(predictor, line):
    with pytest.raises(ConfigurationError, match="input line"):
        predictor.load_line(line)


def test_requests_that_cannot_be_answered(predictor):
    with pytest.raises(ConfigurationError, match=r"expected source in the JSON, got \['text'\]"):
        predictor.predict_json({"text": "a"})
    with pytest.raises(ConfigurationError, match="'source' must be a string, got 1"):
        predictor.predict_json({"source": 1})
