import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.json_lines import json_rows, parse_json_object
from allennlp_sentmatch.predictors import PairGenerator


def test_an_object_is_read():
    assert parse_json_object('{"premise": "a", "hypothesis": "b"}\n') == {
        "premise": "a",
        "hypothesis": "b",
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A man sleeps.\n", r"f.txt, line 3: not valid JSON \(Expecting value.*: A man sleeps\."),
        ('"A man sleeps."\n', 'f.txt, line 3: expected a JSON object.* got "A man sleeps."'),
        ("\n", "f.txt, line 3: not valid JSON"),
    ],
)
def test_anything_else_is_refused_by_its_place(line, message):
    with pytest.raises(ConfigurationError, match=message):
        parse_json_object(line, "f.txt, line 3")


@pytest.mark.parametrize("name", ["esim", "bcn", "attentive_ranker"])
def test_the_predictors_refuse_it(untrained_predictor, name):
    with pytest.raises(ConfigurationError, match=r"^input line 1: expected a JSON object"):
        untrained_predictor(name).load_line('["a", "b"]')


def test_the_generator_refuses_it(untrained_predictor):
    predictor = untrained_predictor("cs_lvm")
    generator = PairGenerator(predictor._model, predictor._dataset_reader)
    with pytest.raises(ConfigurationError, match=r"^input line 1: expected a JSON object"):
        generator.load_line("[]")


def test_objects(write):
    path = write('{"a": 1, "b": "x"}\n\n{"a": null}\n')
    found = list(json_rows(path))
    assert [(row.source.line, row.values) for row in found] == [
        (1, {"a": 1, "b": "x"}),
        (3, {"a": None}),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[" * 2000 + "]" * 2000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"a": %s}' % ("7" * 5000), "not valid JSON .an integer of 5000 digits"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "not valid JSON .the key 'c' occurs twice"),
        ('{"\\ud800": 1, "\\ud800": 2}', r"the key '\\ud800' occurs twice"),
        ("[", "not valid JSON .*jq -c"),
        ('[{"a": 1}]', "expected a JSON object.*jq -c"),
    ],
)
def test_json_that_only_seems_right(write, line, message):
    with pytest.raises(ConfigurationError, match=r"data\.txt, line 2: .*" + message) as error:
        list(json_rows(write('{"a": 1}\n' + line + "\n")))
    assert len(str(error.value)) < 500
    with pytest.raises(ConfigurationError, match=r"^input line: .*" + message):
        parse_json_object(line)


@pytest.mark.parametrize("line", ['{"a": 1', "null", "two words", "~"])
def test_the_remedy_for_an_array_is_for_arrays(line):
    with pytest.raises(ConfigurationError, match="JSON") as error:
        parse_json_object(line)
    assert "array" not in str(error.value)


def test_an_integer_of_4300_digits():
    assert parse_json_object('{"a": %s}' % ("7" * 4300)) == {"a": int("7" * 4300)}


def test_many_keys_of_which_the_last_is_repeated():
    keys = [f'"{number}": 0' for number in [*range(200_000), 199_999]]
    with pytest.raises(ConfigurationError, match="the key '199999' occurs twice"):
        parse_json_object("{" + ", ".join(keys) + "}")
