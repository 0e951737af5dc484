"""Lines of an input file that hold no JSON object."""

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.predictors import PairGenerator
from allennlp_sentmatch.predictors.json_object import parse_json_object


def test_an_object_is_read():
    assert parse_json_object('{"premise": "a", "hypothesis": "b"}\n') == {
        "premise": "a",
        "hypothesis": "b",
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A man sleeps.\n", r"f.txt, line 3 is not JSON \(Expecting value.*: A man sleeps\."),
        ('"A man sleeps."\n', 'f.txt, line 3 must be a JSON object, got "A man sleeps."'),
        ("\n", "f.txt, line 3 is not JSON"),
    ],
)
def test_anything_else_is_refused_by_its_place(line, message):
    with pytest.raises(ConfigurationError, match=message):
        parse_json_object(line, "f.txt, line 3")


@pytest.mark.parametrize("name", ["esim", "bcn", "attentive_ranker"])
def test_the_predictors_refuse_it(untrained_predictor, name):
    with pytest.raises(ConfigurationError, match="must be a JSON object"):
        untrained_predictor(name).load_line('["a", "b"]')


def test_the_generator_refuses_it(untrained_predictor):
    predictor = untrained_predictor("cs_lvm")
    generator = PairGenerator(predictor._model, predictor._dataset_reader)
    with pytest.raises(ConfigurationError, match="must be a JSON object"):
        generator.load_line("[]")
