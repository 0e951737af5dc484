"""Translation from JSON and from plain sentences."""

import pytest
from allennlp.common.checks import ConfigurationError

SOURCE = "Ein Hund läuft über die Wiese ."


@pytest.fixture(scope="module")
def predictor(untrained_predictor):
    return untrained_predictor("encoder_decoder", beam_search={"beam_size": 2, "max_steps": 5})


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
