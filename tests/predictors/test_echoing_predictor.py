"""The lines of a file for `allennlp predict`."""

import json

import pytest
from allennlp.common.checks import ConfigurationError

PAIR = {"premise": "a", "hypothesis": "b"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"premise": "a"', "not valid JSON"),
        (json.dumps({**PAIR, "premise": 5}), "'premise' must be a string, got 5"),
        ('{"premise": "a"}', "hypothesis"),
    ],
)
def test_a_bad_line_is_named_by_its_number(untrained_predictor, line, message):
    predictor = untrained_predictor("esim")
    assert predictor.load_line(json.dumps(PAIR)) == PAIR
    with pytest.raises(
        ConfigurationError, match=rf"^input line 2 \(blank lines not counted\): .*{message}"
    ):
        predictor.load_line(line)


def test_a_bad_sentence_is_named_by_its_number(untrained_predictor):
    predictor = untrained_predictor("encoder_decoder")
    predictor.load_line("Ein Hund")
    with pytest.raises(ConfigurationError, match=r"^input line 2 .* lone surrogate"):
        predictor.load_line("\ud800")
